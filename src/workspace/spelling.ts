/** How the service may spell an MLSNumber that was sent. */

/** A number without what is spelled in different ways. */
export const foldedNumber = (mlsNumber: string): string =>
  mlsNumber
    .toUpperCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '')
    .replace(/^(\p{L}*)0+/u, '$1')

/** Whether of two MLSNumbers of one home the service may have made the one of the other: in another spelling, or cut. */
export function isRespelled(mlsNumber: string, other: string): boolean {
  const [short, long] = mlsNumber.length < other.length ? [mlsNumber, other] : [other, mlsNumber]
  return long.startsWith(short) || foldedNumber(mlsNumber) === foldedNumber(other)
}

/** Whether two such numbers are the same but for a prefix. If that ends in a digit and a digit follows, they are not. */
export function isSpelledAlike(mlsNumber: string, other: string): boolean {
  const [short, long] = mlsNumber.length < other.length ? [mlsNumber, other] : [other, mlsNumber]
  return long === short || (long.endsWith(short) && !/^\d\d/.test(long.slice(-short.length - 1)))
}
