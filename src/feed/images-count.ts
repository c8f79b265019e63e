import type { ImagesLeftOut } from '../listing.ts'

/** Counts images that may not be passed on. Records that are skipped as unchanged are not read, and not counted. */
export class ImagesCount {
  #listings = 0
  readonly #hosts = new Map<string, number>()

  add(left: ImagesLeftOut | undefined): void {
    if (left === undefined) return
    this.#listings++
    for (const [host, images] of Object.entries(left)) this.#hosts.set(host, (this.#hosts.get(host) ?? 0) + images)
  }

  /** One sentence, or none where nothing was left out. */
  notes(): string[] {
    if (this.#listings === 0) return []
    const total = [...this.#hosts.values()].reduce((sum, one) => sum + one, 0)
    const images = total === 1 ? '1 image' : `${total} images`
    const listings = this.#listings === 1 ? '1 listing' : `${this.#listings} listings`
    const hosts = [...this.#hosts].map(([host, times]) => `${host} ${times}`).join(', ')
    return [
      `imagesNotFrom: ${images} of ${listings} left out (${hosts}); records that are as in the last run were not read and are not counted`,
    ]
  }
}
