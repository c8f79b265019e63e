/** The parameters of simulated offices and the list of what goes wrong with their feeds, read from a file. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'

const share = z.number().min(0).max(1)
const range = z.tuple([z.number(), z.number()])

/** What one edit of a listing, or one step over a whole delivery, is told beside its name. */
const how = {
  /** The edit of each listing (edits.ts). */
  edit: z.string().optional(),
  /** The step over the whole delivery or office (incidents.ts, office.ts). */
  do: z.string().optional(),
  fields: z.union([z.array(z.string()), z.record(z.string(), z.unknown())]).optional(),
  by: z.number().optional(),
  metres: z.number().optional(),
  count: z.number().optional(),
  times: z.number().optional(),
  days: z.number().optional(),
  how: z.string().optional(),
}

const change = z.strictObject({
  ...how,
  kind: z.string(),
  share: range.optional(),
  aYear: z.number().optional(),
  /** MM-DD: once a year, in that night. */
  on: z.string().optional(),
  from: z.number().optional(),
  harmless: z.boolean().optional(),
})

const rows = ['zero', 'keys', 'half', 'old', 'open'] as const

const incident = z.strictObject({
  ...how,
  kind: z.string(),
  share: share.optional(),
  everyOther: z.boolean().optional(),
  row: z.enum(rows),
})

const world = z.strictObject({
  office: z.strictObject({
    stays: z.number(),
    agentHas: z.number(),
    evening: share,
    season: z.array(z.number()).length(12),
    writesDaysOnMarket: share,
    rentals: share,
    withoutAddress: share,
    withoutPosition: share,
    comingSoon: share,
  }),
  life: z.strictObject({
    price: z.number(),
    sold: z.number(),
    withdrawn: z.number(),
    reword: z.number(),
    photos: z.number(),
    openHouse: z.number(),
    soldShown: z.number(),
    expires: range,
    toMonthEnd: share,
    renewed: share,
    correction: z.number(),
    slip: z.number(),
  }),
  changes: z.array(change),
  incidents: z.array(incident),
})

export type World = z.output<typeof world>
export type MassChange = World['changes'][number]
export type Incident = World['incidents'][number]
export type Row = (typeof rows)[number]
export type How = Pick<Incident, 'edit' | 'fields' | 'by' | 'metres'>

const ownFile = new URL('world.yaml', import.meta.url)

/** Throws where the file is no world. */
export function loadWorld(file: string | URL = ownFile): World {
  return world.parse(parse(readFileSync(file, 'utf8')))
}
