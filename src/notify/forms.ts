/** A message as each kind of receiver takes it. */
import type { Message } from './message.ts'
import type { FormName } from './settings.ts'

const typed = ({ command }: Message): string[] => (command === null ? [] : [`Type: ${command}`])

/** Escapes the three characters that begin links and entities in Slack's markup, so that a feed's text makes neither. */
function forSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Escapes markup and links, as cards take Markdown. */
function forTeams(text: string): string {
  return text.replace(/[\\`*_[\]()#~|<>!]/g, String.raw`\$&`)
}

const icons = { failed: '🔴', stale: '🔴', held: '🟡', recovered: '🟢' } as const

/** By form, the body of a request, to be sent as JSON. */
export const forms: Readonly<Record<FormName, (message: Message) => unknown>> = {
  json: ({ at, since, ...message }) => ({
    ...message,
    at: new Date(at).toISOString(),
    since: new Date(since).toISOString(),
  }),
  slack: (message) => ({
    text: [
      `${icons[message.event]} *${forSlack(message.title)}*`,
      ...message.lines.map(forSlack),
      ...typed(message).map(forSlack),
    ].join('\n'),
    unfurl_links: false,
  }),
  teams: (message) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            {
              type: 'TextBlock',
              size: 'medium',
              weight: 'bolder',
              wrap: true,
              text: `${icons[message.event]} ${forTeams(message.title)}`,
            },
            ...[...message.lines, ...typed(message)].map((text) => ({
              type: 'TextBlock',
              wrap: true,
              text: forTeams(text),
            })),
          ],
        },
      },
    ],
  }),
}
