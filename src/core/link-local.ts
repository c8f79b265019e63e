/** 169.254.0.0/16 and fe80::/10, also within IPv6: addresses of one cable only, and of cloud metadata. */
const linkLocal = /^\[?(?:(?:::ffff:|64:ff9b::)?169\.254\.|(?:::ffff:|64:ff9b::)a9fe:|fe[89ab][\da-f]:)/i

/** Whether an IP address, or the host of a `URL`, is link-local. */
export function isLinkLocal(host: string): boolean {
  return linkLocal.test(host)
}
