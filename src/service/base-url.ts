/** What is wrong with a base address, or null: http or https, without query or credentials. */
export function baseUrlProblem(address: string): string | null {
  const url = URL.parse(address)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return 'must be an http or https address, such as https://listings.example.com'
  }
  if (url.username !== '' || url.password !== '') return 'must not carry credentials; use secretKey and sessionKey'
  if (url.search !== '' || url.hash !== '') return 'must not carry a query or a fragment'
  return null
}
