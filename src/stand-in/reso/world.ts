/** A RESO Web API of one vendor, without a network: it answers requests, and its records can be changed at any moment. */
import { compileFilter, FilterError, sortable } from './filter.ts'
import { profiles } from './profiles.ts'
import type { Profile, ProfileName } from './profiles.ts'

export type ResoRecord = Record<string, unknown> & { ListingKey: string }

export interface ResoRequest {
  method: string
  /** Path and query. */
  url: string
  headers: Readonly<Record<string, string | undefined>>
  body: string
}

export interface ResoAnswer {
  status: number
  headers: Record<string, string>
  body: string
  /** So many bytes are sent, and then the connection ends. */
  cutAt?: number
}

/** What goes wrong with one request, in place of its answer or with it. */
export type ResoFault =
  | { kind: 'status'; status: number; headers?: Record<string, string> }
  | { kind: 'html' }
  | { kind: 'error' }
  | { kind: 'cut'; share: number }
  | { kind: 'empty-link' }
  | { kind: 'no-value' }
  /** A record that is nested as none is. */
  | { kind: 'deep' }
  | { kind: 'token-ends' }

export interface ResoOptions {
  vendor: ProfileName
  now(): number
  /** The token that is taken, of vendors whose tokens do not change. */
  token?: string
  client?: { id: string; secret: string }
  /** Called before each request for records. */
  fault?(request: ResoRequest): ResoFault | null
  /** Called after each page of records: what it changes, changes between two pages. */
  after?(): void
  /** Off by so many. */
  countOff?: number
}

const five = 5 * 60_000

export class ResoWorld {
  readonly profile: Profile
  readonly records = new Map<string, ResoRecord>()
  readonly options: ResoOptions
  /** Times of the requests that were let in. */
  readonly times: number[] = []
  /** A second list of requests for looking at: path and query. */
  readonly asked: string[] = []
  /** The licence: records that it does not have are not shown. */
  licence: (record: ResoRecord) => boolean = () => true
  #tokens = new Map<string, number>()
  #links = new Map<string, { keys: string[]; at: number; until: number; query: string }>()
  #issued = 0
  #lastStamp = ''

  constructor(options: ResoOptions) {
    this.options = options
    this.profile = profiles[options.vendor]
  }

  /** A timestamp of now, not before any other; `same`: that of the change before. */
  stamp(same = false): string {
    let stamp = this.#written(this.options.now())
    if (this.#lastStamp !== '' && (same || stamp < this.#lastStamp)) stamp = this.#lastStamp
    this.#lastStamp = stamp
    return stamp
  }

  #late(ago: number): string {
    const stamp = this.#written(this.options.now() - ago)
    if (stamp > this.#lastStamp) this.#lastStamp = stamp
    return stamp
  }

  #written(time: number): string {
    const { digits } = this.profile
    const iso = new Date(time).toISOString()
    return `${iso.slice(0, 19)}.${iso.slice(20, 23).padEnd(digits, '0').slice(0, digits)}Z`
  }

  /** Changes the pictures of a record; the vendors that tell it by another timestamp than that of the record do so. */
  putMedia(key: string, media: readonly Record<string, unknown>[]): void {
    const before = this.records.get(key)
    if (this.profile.pictures === null || before === undefined) this.put(key, { Media: media })
    else this.records.set(key, { ...before, Media: media, [this.profile.pictures]: this.#written(this.options.now()) })
  }

  /**
   * Adds a record, or changes one. `same`: with the timestamp of the change before; `ago`: with one of so many milliseconds ago, as of
   * a change that shows late.
   */
  put(key: string, fields: Record<string, unknown>, { same = false, ago = 0 } = {}): void {
    const before = this.records.get(key)
    const stamp = this.#stamped(ago > 0 ? this.#late(ago) : this.stamp(same))
    const { hides, needs } = this.profile
    this.records.set(key, {
      ...(before ?? {
        ListingKey: key,
        ...(needs !== null && { [needs]: 'actris' }),
        ...(hides !== null && { MlgCanView: true, MlgCanUse: ['IDX'] }),
      }),
      ...fields,
      ...stamp,
      ...(this.profile.pictures !== null &&
        before === undefined && { [this.profile.pictures]: Object.values(stamp)[0] }),
      ListingKey: key,
    })
  }

  #stamped(stamp: string): Record<string, string> {
    return this.profile.stamp === 'ModificationTimestamp'
      ? { ModificationTimestamp: stamp }
      : { BridgeModificationTimestamp: stamp, ModificationTimestamp: stamp }
  }

  /** Takes a record off, as the vendor shows it. */
  remove(key: string): void {
    if (this.profile.hides === null || !this.records.has(key)) this.records.delete(key)
    else {
      this.put(key, { MlgCanView: false, hiddenAt: this.options.now() })
    }
  }

  /** What a client may see at this moment. */
  visible(): ResoRecord[] {
    const { hides } = this.profile
    const now = this.options.now()
    for (const [key, { hiddenAt, MlgCanView }] of this.records)
      if (hides !== null && MlgCanView === false && now - Number(hiddenAt) >= hides) this.records.delete(key)
    return [...this.records.values()].filter((record) => this.licence(record))
  }

  answer(request: ResoRequest): ResoAnswer {
    const url = new URL(request.url, 'http://reso.invalid')
    const path = decodeURIComponent(url.pathname).replace(/^\/odata/, '')
    if (this.profile.token !== null && path === this.profile.token.path) return this.#token(request)
    const limited = this.#limited()
    if (limited !== null) return limited
    this.asked.push(path + decodeURIComponent(url.search))
    const fault = this.options.fault?.(request) ?? null
    if (fault?.kind === 'token-ends') this.#tokens.clear()
    if (!this.#knows(request)) return this.#json(401, { error: { code: '401', message: 'Unauthorized' } })
    if (fault?.kind === 'status')
      return { ...this.#json(fault.status, { error: { message: 'Out of order' } }, fault.headers) }
    if (fault?.kind === 'html')
      return { status: 200, headers: { 'content-type': 'text/html' }, body: '<html><body>Maintenance</body></html>' }
    if (fault?.kind === 'error') return this.#json(200, { error: { code: '500', message: 'The query failed' } })
    if (fault?.kind === 'deep')
      return {
        ...this.#json(200, {}),
        body: `{"value":[{"ListingKey":"1","Media":${'['.repeat(50_000)}${']'.repeat(50_000)}}]}`,
      }
    if (fault?.kind === 'no-value') return this.#json(200, { '@odata.context': 'x', listings: [] })
    const answer = this.#records(path, url, request, fault?.kind === 'empty-link')
    if (answer.status === 200) this.options.after?.()
    return fault?.kind === 'cut' ? { ...answer, cutAt: Math.floor(answer.body.length * fault.share) } : answer
  }

  #json(status: number, document: unknown, headers: Record<string, string> = {}): ResoAnswer {
    const quota = this.profile.quotaHeaders ? this.#quota() : {}
    return {
      status,
      headers: { 'content-type': 'application/json', ...quota, ...headers },
      body: JSON.stringify(document),
    }
  }

  #used(within: number): number {
    const from = this.options.now() - within
    return this.times.length - 1 - this.times.findLastIndex((time) => time <= from)
  }

  #quota(): Record<string, string> {
    const [minute, hour] = this.profile.limits
    return {
      'Minute-Quota-Limit': String(minute.most),
      'Minute-Quota-Available': String(minute.most - this.#used(minute.within)),
      'Hour-Quota-Limit': String(hour.most),
      'Hour-Quota-Available': String(hour.most - this.#used(hour.within)),
      'Hour-Quota-ResetTime': String(this.options.now() + hour.within),
    }
  }

  #limited(): ResoAnswer | null {
    const isOver = this.profile.limits.some(({ most, within }) => this.#used(within) >= most)
    if (isOver) {
      this.refused++
      return this.#json(429, { error: { message: 'Too many requests' } }, { 'Retry-After': '60' })
    }
    this.times.push(this.options.now())
    return null
  }

  /** Requests over the limits. */
  refused = 0

  #token({ method, body }: ResoRequest): ResoAnswer {
    const form = new URLSearchParams(body)
    const { id, secret } = this.options.client ?? { id: 'client', secret: 'client-secret' }
    const isRight = form.get('client_id') === id && form.get('client_secret') === secret
    if (method !== 'POST' || !isRight || form.get('grant_type') !== 'client_credentials')
      return { status: 400, headers: { 'content-type': 'text/html' }, body: 'Bad Request' }
    const token = `secret-token-${++this.#issued}-${this.options.vendor}`
    const { seconds } = this.profile.token!
    this.#tokens.set(token, this.options.now() + seconds * 1000)
    return this.#json(200, { access_token: token, expires_in: seconds, token_type: 'Bearer' })
  }

  #knows({ headers }: ResoRequest): boolean {
    const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    if (this.options.token !== undefined && token === this.options.token) return true
    return (this.#tokens.get(token) ?? 0) > this.options.now()
  }

  #refuse(message: string): ResoAnswer {
    return this.#json(400, { error: { code: '400', message } })
  }

  #records(path: string, url: URL, { headers, url: asked }: ResoRequest, isEmptied: boolean): ResoAnswer {
    const { profile } = this
    if (profile.gzipOnly && !(headers['accept-encoding'] ?? '').includes('gzip'))
      return this.#refuse('Requests must accept gzip')
    const { replication } = profile
    const isReplication = replication !== null && path === `/${replication.resource}`
    if (path !== '/Property' && !isReplication) return this.#json(404, { error: { message: `${path} is not here` } })
    const query = url.searchParams
    const link = query.get('id')
    if (link !== null) return this.#linked(link, query, isEmptied)
    let kept = this.visible()
    const filter = query.get('$filter') ?? ''
    try {
      const { test, fields, hasWords } =
        filter === '' ? { test: () => true, fields: [], hasWords: [] } : compileFilter(filter)
      const foreign = profile.searchable && fields.find((field) => !profile.searchable!.includes(field))
      if (foreign) return this.#refuse(`${foreign} is not searchable`)
      if (profile.enums === 'has' && /\b(StandardStatus|PropertyType)\s+eq\b/.test(filter) && hasWords.length === 0)
        return this.#refuse('An enumeration is compared with has')
      kept = kept.filter(test)
    } catch (error) {
      if (!(error instanceof FilterError)) throw error
      return this.#refuse(error.message)
    }
    if (profile.needs !== null && !new RegExp(`${profile.needs} eq '[a-z0-9]+'`).test(filter))
      return this.#refuse(`${profile.needs} is required`)
    const select = query.get('$select')?.split(',') ?? null
    const isKeys = select !== null && select.length <= 4 && !query.has('$expand')
    const most = isReplication
      ? replication.most
      : query.has('$expand')
        ? profile.page.expanded
        : isKeys
          ? profile.page.keys
          : profile.page.most
    const top = query.has('$top') ? Number(query.get('$top')) : profile.page.usual
    if (!(top >= 0 && top <= most)) return this.#refuse(`$top is at most ${most}`)
    if (isReplication && (query.has('$orderby') || query.has('$skip'))) return this.#refuse('Not here')
    const skip = Number(query.get('$skip') ?? query.get('$skiptoken') ?? 0)
    if (skip > profile.deepest) return this.#refuse(`$skip is at most ${profile.deepest}`)
    const order = profile.fixedOrder === 'stamp' ? [profile.stamp] : (query.get('$orderby')?.split(',') ?? [])
    kept.sort((a, b) => compare(a, b, order))
    const page = isEmptied ? [] : kept.slice(skip, skip + top)
    const isMore = isEmptied || skip + top < kept.length || (profile.linksFullPages && page.length === top && top > 0)
    const next = !isMore ? null : this.#next(url, kept, skip, isEmptied ? 0 : top, isReplication)
    const count =
      query.get('$count') === 'true' && profile.count !== 'none'
        ? kept.length * (query.has('$expand') && profile.count === 'joined' ? 5 : 1)
        : null
    void asked
    return this.#page(page, select, query.has('$expand'), next, count, isReplication && replication.link === 'header')
  }

  #next(url: URL, kept: readonly ResoRecord[], skip: number, top: number, isReplication: boolean): string {
    const next = new URL(url)
    if (this.profile.next === 'dying') {
      const id = `link${this.#links.size + 1}`
      const keys = kept.slice(skip + top).map(({ ListingKey }) => ListingKey)
      this.#links.set(id, { keys, at: 0, until: this.options.now() + five, query: url.search })
      next.search = `?id=${id}`
    } else
      next.searchParams.set(this.profile.next === 'token' || isReplication ? '$skiptoken' : '$skip', String(skip + top))
    return next.pathname + next.search
  }

  /** Rows behind a link that dies without a request for five minutes. */
  #linked(id: string, query: URLSearchParams, isEmptied: boolean): ResoAnswer {
    const link = this.#links.get(id)
    const now = this.options.now()
    if (link === undefined || now > link.until) return this.#json(410, { error: { message: 'The link has expired' } })
    link.until = now + five
    const first = new URLSearchParams(link.query)
    const top = isEmptied ? 0 : Number(first.get('$top') ?? this.profile.page.usual)
    const rows = link.keys.slice(link.at, link.at + top).flatMap((key) => this.records.get(key) ?? [])
    const nextId = `link${this.#links.size + 1}`
    this.#links.set(nextId, { ...link, at: link.at + top })
    void query
    const isMore = link.at + top < link.keys.length || rows.length === top
    return this.#page(
      rows,
      first.get('$select')?.split(',') ?? null,
      first.has('$expand'),
      isMore ? `/odata/Property?id=${nextId}` : null,
      null,
      false,
    )
  }

  #page(
    rows: readonly ResoRecord[],
    select: string[] | null,
    isExpanded: boolean,
    next: string | null,
    count: number | null,
    inHeader: boolean,
  ): ResoAnswer {
    const value = rows.map((record) => this.#shown(record, select, isExpanded))
    const link = next === null ? null : `${this.root}${next.replace(/^\/odata/, '')}`
    return this.#json(
      200,
      {
        '@odata.context': `${this.root}/$metadata#Property`,
        ...(count !== null && { '@odata.count': count + (this.options.countOff ?? 0) }),
        value,
        ...(link !== null && !inHeader && { '@odata.nextLink': link }),
      },
      link !== null && inHeader ? { link: `<${link}>; rel="next"` } : {},
    )
  }

  /** Where its links lead to; set once the address is known. */
  root = 'http://reso.invalid/odata'

  #shown(record: ResoRecord, select: string[] | null, isExpanded: boolean): Record<string, unknown> {
    const { squeezed, signsMedia } = this.profile
    const { hiddenAt: _, Media: media, ...fields } = record
    const chosen = Object.entries(fields).filter(([name]) => select === null || select.includes(name))
    const shown: Record<string, unknown> = Object.fromEntries(
      chosen.map(([name, value]) => [
        name,
        squeezed && enums.has(name) && typeof value === 'string' ? value.replace(/[\s-]/g, '') : value,
      ]),
    )
    if (Array.isArray(media) && (isExpanded || this.options.vendor === 'bridge' || this.options.vendor === 'crea'))
      shown.Media = media.map((picture: Record<string, unknown>) =>
        signsMedia
          ? {
              ...picture,
              MediaURL: `https://media.mlsgrid.com/token/${this.options.now()}?Expires=${this.options.now() + 3_600_000}`,
            }
          : picture,
      )
    return shown
  }
}

const enums = new Set(['StandardStatus', 'PropertyType', 'PropertySubType'])

function compare(a: ResoRecord, b: ResoRecord, order: readonly string[]): number {
  for (const part of order) {
    const [field, direction] = part.trim().split(' ')
    const [x, y] = [a, b].map(({ [field]: value }) => {
      // None comes before all values.
      if (value === null || value === undefined) return ''
      return field.endsWith('Timestamp') && typeof value === 'string' ? sortable(value) : JSON.stringify(value)
    })
    if (x !== y) return (x < y ? -1 : 1) * (direction === 'desc' ? -1 : 1)
  }
  return 0
}
