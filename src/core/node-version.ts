/** What is wrong with a version of Node, or null. */
export function nodeProblem(version: string): string | null {
  const [major, minor] = version.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 19)) return null
  return `the client of the listing service needs Node 22.19 or newer, this is ${version}`
}
