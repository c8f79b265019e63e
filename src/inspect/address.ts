/** The address of a source as it may be written down: what is secret in it becomes a reference to the environment. */

/** `text` is a value of the configuration, `variables` the names that it refers to. */
export function withoutSecrets(source: string): { text: string; variables: string[] } {
  const variables: string[] = []
  // A `${` of the address itself is no reference.
  const parts = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/)(?:([^/?#]*)@)?([^?#]*)(\?[^#]*)?(.*)$/.exec(
    source.replaceAll('${', '$${'),
  )
  if (parts === null) return { text: source.replaceAll('${', '$${'), variables }
  const [, scheme, credentials, place, query = '', rest] = parts
  const hidden = (name: string): string => {
    variables.push(name)
    return `\${${name}}`
  }
  const isHttp = /^https?:/i.test(scheme)
  let before = ''
  if (credentials !== undefined) {
    const colon = credentials.indexOf(':')
    // A token often stands alone in the user's place; to a file server it is a name, such as anonymous.
    const user = colon < 0 ? (isHttp ? hidden('FEED_USER') : credentials) : credentials.slice(0, colon)
    before = colon < 0 ? `${user}@` : `${user}:${hidden('FEED_PASSWORD')}@`
  }
  const asked = !isHttp
    ? query
    : query.replaceAll(/([?&])([^=&]+)=([^&]{8,})/g, (_, mark: string, name: string) => {
        const variable = `FEED_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`
        return `${mark}${name}=${hidden(variable)}`
      })
  return { text: `${scheme}${before}${place}${asked}${rest}`, variables }
}
