/**
 * The claims that a probe must make about a stand-in with this profile, and no others; from the profile alone.
 */
import type { Facts } from '../../src/probe/question.ts'
import type { StandInProfile } from '../../src/stand-in/profile.ts'
import { others } from './world.ts'

const longest = 1000
const total = others.length

export type Expected = Record<string, Facts>

export function expectedFacts(profile: StandInProfile): Expected {
  const via = (code: number): string => `HTTP ${profile.refusalsVia === 'http' ? code : 200}, code ${code}`
  const isWhole = profile.order !== 'shuffled' || pageOf(profile) > total
  const filterIgnored = profile.mlsNumberFilter === 'ignored'
  return {
    pageSize: pages(profile),
    deleteWithoutMatch: {
      deleteWithoutMatch:
        profile.deleteWithoutMatch !== 'short-count'
          ? 'refused'
          : profile.deleteCounts === 'sent'
            ? 'counts 1'
            : 'counts 0',
    },
    deleteBatch: batch(profile),
    updateWithoutMatch: {
      updateWithoutMatch: profile.updateWithoutMatch === 'created' ? 'creates' : profile.updateWithoutMatch,
    },
    creation: filterIgnored ? {} : { lookUpsBeforeShown: profile.listLag },
    virtualCount: isWhole ? { virtualCount: isTotal(profile) ? 'total' : 'other' } : {},
    filter: filterIgnored
      ? { filter: 'ignored' }
      : { filter: profile.mlsNumberFilter, filterIgnoresCase: profile.caseInsensitiveKeys },
    valueForms: {
      images: (profile.cut.Images ?? 2) < 2 ? null : profile.imagesShown,
      extensionColumn: 'json',
      money: form(profile.moneyShown),
      numbers: form(profile.numbersShown),
      coordinateDecimals: Math.min(9, profile.coordinateDecimals ?? 9),
    },
    saleType: { for_sale: profile.saleTypeShown.for_sale, for_rent: profile.saleTypeShown.for_rent },
    textForms: {
      text: profile.cut.Description === undefined || profile.cut.Description > 200 ? 'kept' : 'cut',
      trim: profile.trim,
      htmlEscape: profile.htmlEscape,
    },
    lengths: lengths(profile),
    clearing: {
      omitted: profile.omitted,
      emptyText: empty(profile.emptyText, profile),
      emptyChoice: empty(profile.emptyChoice, profile),
      emptyArray: empty(profile.emptyArray, profile),
    },
    requiredOnUpdate: {
      unchangedUpdate: profile.unchangedUpdate === 'counted' ? 1 : 0,
      requiredOnUpdate: profile.requiredOnUpdate === 'optional' ? 'accepted' : 'refused',
      zeroRequired: profile.zeroRequired,
      emptyRequired: profile.emptyRequired,
    },
    absentValues: {
      absentCoordinates: { zero: profile.answers.integers === 'text' ? '"0"' : '0', empty: '""', null: 'null' }[
        profile.absentCoordinates
      ],
      absentTexts: 'empty',
    },
    order:
      profile.order === 'shuffled' ? { stable: false, order: 'none' } : { stable: true, order: orders[profile.order] },
    partialDelete: partial(profile),
    identifier: {
      identifierIsId: profile.createdIdentifier === 'id',
      ...(profile.createdIdentifier === 'id' && { updateByNativeId: true }),
    },
    duplicates: doubles(profile),
    badInput: { badInput: via(400) },
    keys: Object.fromEntries(
      (['List', 'Create', 'Update', 'Delete'] as const).flatMap((name) =>
        (['secret', 'session'] as const).map((key) => [`${name}.${key}`, enough(profile.headers[name], key)]),
      ),
    ),
    badKeys: {
      noKey: profile.headers.List === 'none' ? 'taken' : via(profile.refusals.credentials?.code ?? 401),
      wrongSecret: profile.headers.List === 'none' ? 'taken' : via(profile.refusals.credentials?.code ?? 401),
      wrongSession: profile.headers.List === 'none' ? 'taken' : via(profile.refusals.credentials?.code ?? 401),
    },
  }
}

const orders = {
  id: 'ID ascending',
  'id-descending': 'ID descending',
  'changed-first': 'last changed first',
  MLSNumber: 'MLSNumber',
}

function pageOf({ maxPageSize }: StandInProfile): number {
  return Math.min(100, maxPageSize ?? 100)
}

/** With one item a page, the number of pages is the number of items. */
function isTotal(profile: StandInProfile): boolean {
  return profile.virtualCount === 'total' || (profile.virtualCount === 'pages' && profile.maxPageSize === 1)
}

function pages({ maxPageSize, largerPageSize, pastTheEnd }: StandInProfile): Facts {
  const end = { empty: 'empty', 'last-page': 'shows listings again', refused: 'refused' }[pastTheEnd]
  if (maxPageSize === null || maxPageSize >= longest) return { pastTheEnd: end }
  if (largerPageSize === 'refused') return { refusedAbove: maxPageSize, pastTheEnd: end }
  return { ...(maxPageSize < total && { clampedTo: maxPageSize }), pastTheEnd: end }
}

function batch({ maxKeys, deleteWithoutMatch }: StandInProfile): Facts {
  if (maxKeys !== null && maxKeys < longest) return { maxKeys }
  return deleteWithoutMatch === 'short-count' ? { maxKeys: null } : {}
}

function form(shown: StandInProfile['moneyShown']): string {
  return { plain: 'plain', 'two-decimals': '2 decimals', 'many-decimals': '10 decimals' }[shown]
}

function lengths({ cut, maxLengths }: StandInProfile): Facts {
  const lengthsTried = [5000, 1000, 200]
  const sent = lengthsTried.find((length) => length <= (maxLengths.Description ?? 5000))!
  const refused = lengthsTried[lengthsTried.indexOf(sent) - 1]
  const descriptionCut = cut.Description ?? 5000
  return {
    ...(refused !== undefined && { descriptionRefused: refused }),
    descriptionCutAt: descriptionCut < sent ? descriptionCut : null,
    ...((maxLengths.Images ?? 30) < 30
      ? { imagesRefused: 30 }
      : { imagesCutAt: (cut.Images ?? 30) < 30 ? cut.Images! : null }),
  }
}

/** What is ignored while what is left out is cleared goes, too. */
function empty(stance: StandInProfile['emptyText'], { omitted }: StandInProfile): string {
  return stance === 'ignored' && omitted === 'cleared' ? 'clears' : stance
}

function partial({ deleteWithoutMatch, deleteCounts, maxKeys }: StandInProfile): Facts {
  if (maxKeys === 1) return { partialDelete: 'refused', partialDeleteCarriedOut: false }
  if (deleteWithoutMatch === 'refuse-all') return { partialDelete: 'refused', partialDeleteCarriedOut: false }
  if (deleteWithoutMatch === 'refuse-after') return { partialDelete: 'refused', partialDeleteCarriedOut: true }
  return { partialDelete: deleteCounts === 'sent' ? 'counts 2' : 'counts 1', partialDeleteCarriedOut: true }
}

function doubles({ duplicates, createdIdentifier, doubles, deleteCounts }: StandInProfile): Facts {
  const byId: Facts = createdIdentifier === 'id' ? { deleteById: true } : {}
  if (duplicates === 'refused') return { duplicates, ...byId }
  if (duplicates === 'replaced') return { duplicates: 'replaces', ...byId }
  return { duplicates, ...byId, doubles, deleteCounts: doubles === 'all' && deleteCounts === 'rows' ? 2 : 1 }
}

function enough(required: StandInProfile['headers']['List'], key: 'secret' | 'session'): boolean {
  return required === 'either' || required === 'none' || required === key
}

/** The profile that the configuration should get. */
export function expectedProfile(profile: StandInProfile): Record<string, unknown> {
  const { maxPageSize, largerPageSize, maxKeys } = profile
  const isLimited = maxPageSize !== null && maxPageSize < longest
  const pageSize = isLimited && (largerPageSize === 'refused' || maxPageSize < total) ? { pageSize: maxPageSize } : {}
  const isWhole = profile.order !== 'shuffled' || pageOf(profile) > total
  const effects = [profile.emptyText, profile.emptyChoice, profile.emptyArray].map((stance) => empty(stance, profile))
  const omits =
    !effects.every((effect) => effect === 'clears') && (profile.omitted === 'cleared' || effects.includes('refused'))
  return {
    ...pageSize,
    ...(maxKeys !== null && maxKeys < longest && { deleteBatch: maxKeys }),
    ...(isWhole && { virtualCount: isTotal(profile) ? 'total' : 'unknown' }),
    clear: omits ? 'omit' : 'empty',
    ...(doubles(profile)['deleteById'] === true && { nativeId: 'list-id' }),
    ...(profile.saleTypeShown.for_sale === '1' && { saleTypeShown: profile.saleTypeShown }),
  }
}
