/** What feeds left in the store that a configuration no longer has, or has with another chatbot. */
import type { Config } from '../config/config.ts'
import { many, printable, yamlWord } from '../core/text.ts'
import type { StoreReader } from '../store/store.ts'

export type Left = Awaited<ReturnType<typeof leftBehind>>[number]

/** What feeds left in the store that are no longer in the configuration, or fill another chatbot now. */
export async function leftBehind({ feeds }: Config, { snapshot, runs, holds }: StoreReader) {
  const left = await Promise.all(
    (await runs.feeds()).map(async (feed) => {
      const now = feeds.find(({ name }) => name === feed)?.chatbot ?? null
      const chatbots = (await snapshot.chatbots(feed)).filter(({ chatbot }) => chatbot !== now)
      return { feed, now, chatbots, holds: now === null ? await holds.count(feed) : 0 }
    }),
  )
  return left
    .filter(({ chatbots, holds: held }) => chatbots.length + held > 0)
    .map(({ now, ...rest }) => {
      const [first, ...others] = rest.chatbots
      const mirror = feeds.find(({ chatbot, plan }) => plan.ownership === 'mirror' && chatbot === first?.chatbot)
      const todo = mirror !== undefined && others.length === 0 ? takenOffBy(mirror.name) : whatToDo(rest.feed, now)
      return { ...rest, what: whatHappened(rest.feed, now), todo }
    })
}

const whatHappened = (feed: string, chatbot: string | null): string =>
  chatbot === null
    ? `${printable(feed)} is no longer in the configuration`
    : `${printable(feed)} fills chatbot ${printable(chatbot)} now`

const takenOffBy = (mirror: string): string =>
  `${mirror} takes over what it delivers of them and deletes the rest, unless that is held, as the chatbot belongs to it alone (ownership: mirror)`

function whatToDo(feed: string, chatbot: string | null): string {
  const todo =
    chatbot === null
      ? `If a feed of another name has them now, write there: formerly: [${yamlWord(feed)}]; else put ${feed} back, or`
      : 'Give the feed that chatbot back, or'
  return `Nothing is done with them. ${todo} delete them on the chatbot`
}

/** "12 listings in chatbot SN-1, 3 held". */
export function leftOf({ chatbots, holds }: Left): string {
  const listings = chatbots.map((left) => `${many(left.listings, 'listing')} in chatbot ${printable(left.chatbot)}`)
  return [...listings, ...(holds > 0 ? [`${holds} held`] : [])].join(', ')
}
