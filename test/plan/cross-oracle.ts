/**
 * What docs/design.md says of a world, written from its words and its table alone: nothing here comes from src/plan. `expected`
 * names the one row of the table that holds; `violations` are the rules that no row may break.
 */
import { looksUp } from '../support/changes.ts'
import { itemHash, wantedContent } from './cross-world.ts'
import type { Content, Item, Planned, Row, Setting, World } from './cross-world.ts'

/** Whose the listing is, by memory and by the mark on the service (docs/design.md). A mark says more than memory. */
function whose({ row, items }: World, { ownership }: Setting): 'ours' | 'theirs' | 'nobody' {
  const marks = ownership === 'snapshot' ? [] : items.map(({ tag }) => tag)
  if (row?.feed === 'south' && row.owned) return 'theirs'
  if (marks.includes('north')) return 'ours'
  if (marks.includes('south')) return 'theirs'
  if (row?.feed === 'north' && row.owned) return 'ours'
  // Without marks, a create under way is all that can have made what is there.
  const made = ownership === 'snapshot' && row?.feed === 'north' && row.flight === 'create' && items.length > 0
  return made ? 'ours' : 'nobody'
}

/** Deletes by absence need a full and whole delivery, every MLSNumber of it read, and the whole of the service's list. */
function absenceIsProven({ deliveryComplete, unreadable, remoteComplete, mode }: Setting): boolean {
  return mode === 'full' && deliveryComplete && unreadable === 0 && remoteComplete
}

/** The fields of an item that are not as this content is sent, AreaUnit apart, which no item shows. */
const isAs = (item: Item, content: Content): boolean => item.content === content && item.spelled === undefined

/** The change of the decision table as "kind cause", or `unchanged`, `nothing`; several where a delivery holds several listings. */
export function expected(world: World, setting: Setting): string[] {
  const { feed, row, items } = world
  if (feed === 'reject') return ['nothing']
  if (feed === 'twice differing') return ['hold twice-delivered', 'hold twice-delivered']
  if (feed === 'listing and removal' || feed === 'listing and reject') return ['hold twice-delivered']
  if (feed === 'removal' || feed === 'filtered' || feed === 'absent') return [leaving(world, setting)]
  const wanted = wantedContent(feed)!
  const step = staying(wanted, world, setting)
  const isSent = step.startsWith('create') || step.startsWith('update')
  return [isSent && row?.refused === wanted && items.length < 2 ? 'hold refused-before' : step]
}

function leaving({ feed, row, items, ...rest }: World, setting: Setting): string {
  const { ownership, deletes, remoteComplete, graceRuns, mode } = setting
  const owner = whose({ feed, row, items, ...rest }, setting)
  const mine = row?.feed === 'north' ? row : null
  const isOurs = owner === 'ours' || (ownership === 'mirror' && items.length > 0)
  const says = feed !== 'absent'
  if (!says && mode === 'delta') return isOurs && items.length > 1 ? 'hold twice-shown' : 'nothing'
  // What another feed took over is forgotten once it can be, so that the other one finds no row in its way.
  const isHandedOver = owner === 'theirs' && mine !== null && mine.owned && mine.flight === null
  if (!isOurs) return isHandedOver && deletes && (says || absenceIsProven(setting)) ? 'forget other-feed' : 'nothing'
  if (items.length === 0 && remoteComplete) {
    const underWay = mine !== null && (mine.suspect || (mine.young && mine.flight !== null))
    const sure = deletes && mine !== null && mine.owned && !underWay && (says || absenceIsProven(setting))
    return sure ? `forget ${says ? 'feed-says-so' : 'absent'}` : 'nothing'
  }
  if (items.length > 1) return 'hold twice-shown'
  if (!deletes || items.length === 0) return 'hold unproven'
  if (says) return 'delete feed-says-so'
  if (!setting.deliveryComplete || !remoteComplete) return 'hold unproven'
  if (setting.unreadable > 0) return 'hold unreadable'
  return rest.absentRuns + 1 < graceRuns ? 'hold grace' : 'delete absent'
}

function staying(wanted: Content, world: World, setting: Setting): string {
  const { row, items } = world
  const { ownership, outranks, remoteComplete } = setting
  const mine = row?.feed === 'north' ? row : null
  const [item] = items
  const southHasIt =
    (row?.feed === 'south' && (row.owned || row.flight !== null)) ||
    (ownership !== 'snapshot' && items.some(({ tag }) => tag === 'south'))
  if (southHasIt) {
    const mayLand = row !== null && row.flight !== null && row.missed !== 'long ago' && (row.young || !remoteComplete)
    if (!(outranks || ownership === 'mirror') || mayLand) return 'hold other-feed'
  }
  if (items.length > 1) return 'hold twice-shown'
  if (southHasIt) {
    if (item === undefined) return 'create new after a look-up'
    if (ownership !== 'snapshot') return unlessHidden('update never-sent', remoteComplete)
    return isAs(item, wanted) ? 'adopt as-wanted' : unlessHidden('update never-sent', remoteComplete)
  }
  if (mine !== null && mine.flight !== null) return settled(mine, wanted, item, remoteComplete)
  if (mine !== null && mine.owned) return ours(mine, wanted, item, setting)
  // What is left of a refused call may be of an update: then the service showed it.
  if (item === undefined) return remoteComplete && row === null ? 'create new' : 'create new after a look-up'
  return isAs(item, wanted) ? 'adopt as-wanted' : unlessHidden('update never-sent', remoteComplete)
}

/** An incomplete list may hide a copy that is another feed's. */
function unlessHidden(update: string, remoteComplete: boolean): string {
  return remoteComplete ? update : `${update} after a look-up`
}

/** A call was under way when we last knew. */
function settled(mine: Row, wanted: Content, item: Item | undefined, remoteComplete: boolean): string {
  if (item !== undefined)
    return isAs(item, wanted) ? 'adopt settle' : unlessHidden('update settle', remoteComplete || mine.owned)
  if (mine.flight === 'update')
    return remoteComplete || mine.content === null ? 'create gone-from-service after a look-up' : 'update changed'
  if (mine.missed === 'long ago' || (remoteComplete && !mine.young)) return 'create new after a look-up'
  return remoteComplete || mine.missed === 'lately' ? 'hold in-flight' : 'create new after a first look-up'
}

function ours(mine: Row, wanted: Content, item: Item | undefined, { remoteComplete, drift }: Setting): string {
  if (item === undefined) {
    if (remoteComplete || mine.content === null)
      return mine.undone < 3 ? 'create gone-from-service after a look-up' : 'hold not-converging'
    return wanted === mine.content ? 'unchanged' : 'update changed'
  }
  if (mine.content === null) return isAs(item, wanted) ? 'adopt settle' : 'update settle'
  if (wanted !== mine.content) return 'update changed'
  if (mine.suspect || isAs(item, wanted)) return 'unchanged'
  if (mine.baseline === itemHash(item)) return mine.ignored ? 'hold not-converging' : 'unchanged'
  // Nobody looked at it after the last write: it is sent once more, where the service may be put right at all.
  if ((mine.baseline === null || mine.ignored) && drift === 'overwrite') return 'update unseen'
  if (mine.undone >= 3 && drift === 'overwrite') return 'hold not-converging'
  return { overwrite: 'update drifted', keep: 'unchanged', report: 'hold drifted' }[drift]
}

/** The rules of docs/design.md that hold in any row of the table; in words, for the report of a failure. */
export function violations(world: World, setting: Setting, planned: Planned): string[] {
  const { changes, unchanged } = planned
  const { feed, row, items } = world
  const found: string[] = []
  const owner = whose(world, setting)
  const takesOver = setting.outranks || setting.ownership === 'mirror'
  const isDelivered = wantedContent(feed) !== null
  const feedSaysGone = feed === 'removal' || feed === 'filtered'
  for (const change of changes) {
    const { kind, why } = change
    const lookUp = looksUp(change)
    if (why === '') found.push(`${kind} without a reason`)
    if (kind === 'delete') {
      if (!feedSaysGone && !(feed === 'absent' && absenceIsProven(setting))) found.push('delete without proof')
      if (!setting.deletes) found.push('delete in a backfill')
      if (owner !== 'ours' && setting.ownership !== 'mirror') found.push('delete of what is not ours')
      if (feed === 'absent' && world.absentRuns + 1 < setting.graceRuns) found.push('delete within its grace')
    }
    if ((kind === 'update' || kind === 'create' || kind === 'adopt') && !isDelivered)
      found.push(`${kind} of what the feed does not deliver`)
    if ((kind === 'update' || kind === 'adopt') && owner === 'theirs' && !takesOver)
      found.push(`${kind} of what another feed has`)
    if (kind === 'create') {
      const surelyAbsent = row === null || (row.refused !== null && !row.owned && row.flight === null)
      if (items.length > 0) found.push('create of what is shown')
      if (!(surelyAbsent && setting.remoteComplete) && !lookUp) found.push('create of what may be there, not looked up')
    }
  }
  found.push(...notedWrong(world, setting, planned))
  const held = feed === 'twice differing' ? 2 : 1
  const counted = changes.length + unchanged
  if (wantedContent(feed) !== null && counted !== 1) found.push(`one listing in ${counted} counts`)
  if (feed === 'twice differing' && counted !== held) found.push(`two listings in ${counted} counts`)
  if ((feed === 'absent' || feedSaysGone) && (changes.length > 1 || unchanged > 0)) found.push('counted though absent')
  return found
}

/** What must be remembered of a world although nothing is called for it. */
function notedWrong(world: World, setting: Setting, planned: Planned): string[] {
  const { feed, row, items, absentRuns } = world
  const { unchanged, notes } = planned
  const { deletes, mode, deliveryComplete, ownership } = setting
  const isOurs = whose(world, setting) === 'ours' || (ownership === 'mirror' && items.length > 0)
  const wanted = wantedContent(feed)
  const due = {
    returned: absentRuns > 0 && feed !== 'absent',
    absent: feed === 'absent' && isOurs && deletes && mode === 'full' && deliveryComplete,
    baseline:
      unchanged > 0 && items.length === 1 && row?.feed === 'north' && !row.suspect && isAnew(row, items[0], wanted),
  }
  return Object.entries(due).flatMap(([op, isDue]) => {
    const times = notes.filter((entry) => entry.op === op).length
    return times === (isDue ? 1 : 0) ? [] : [`${op} noted ${times} times`]
  })
}

/** It is shown in a way that is not remembered yet, and is no edit that stays; or nothing undid what was put right. */
function isAnew(row: Row, item: Item, wanted: Content | null): boolean {
  const isOther = row.baseline !== itemHash(item)
  if (wanted === null || wanted !== row.content) return false
  if (isOther && row.baseline !== null && !row.ignored && !isAs(item, wanted)) return false
  return isOther || row.ignored || row.undone > 0
}

/** Holds that may stand for as long as nothing else happens: they wait for time, for another delivery, or for a person. */
export function mayStand(cause: string, world: World, setting: Setting): boolean {
  const { feed, row, items } = world
  switch (cause) {
    case 'in-flight':
      return row?.flight !== null && (row?.young === true || !setting.remoteComplete)
    case 'refused-before':
      return row?.refused !== null
    case 'twice-delivered':
      return feed.startsWith('twice') || feed.startsWith('listing and')
    case 'twice-shown':
      return items.length > 1
    case 'other-feed':
      return !setting.outranks || row?.flight !== null
    case 'drifted':
      return setting.drift === 'report'
    case 'not-converging':
      return row?.ignored === true || (row?.undone ?? 0) >= 3
    case 'unproven':
      return !setting.deliveryComplete || !setting.remoteComplete || !setting.deletes
    case 'unreadable':
      return setting.unreadable > 0
    default:
      return false
  }
}
