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
  let before = ''
  if (credentials !== undefined) {
    const colon = credentials.indexOf(':')
    before = colon < 0 ? `${hidden('FEED_USER')}@` : `${credentials.slice(0, colon)}:${hidden('FEED_PASSWORD')}@`
  }
  const asked = query.replaceAll(/([?&])([^=&]+)=([^&]{8,})/g, (_, mark: string, name: string) => {
    const variable = `FEED_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`
    return `${mark}${name}=${hidden(variable)}`
  })
  return { text: `${scheme}${before}${place}${asked}${rest}`, variables }
}
