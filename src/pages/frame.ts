/** The frame of all pages. Text gets into a page only through Hono's `html`, which escapes it. */
import { html, raw } from 'hono/html'
import { programVersion } from '../app/version.ts'
import { printable, shorten } from '../core/text.ts'
import { hashOf } from '../report/html.ts'
import { pageStyle } from '../report/page-style.ts'

/** A piece of a page. */
export type Piece = ReturnType<typeof html>

const style = `${pageStyle}
  nav { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; align-items: center; border-bottom: 1px solid var(--line); padding-bottom: .5rem; }
  nav form { margin-left: auto; display: flex; gap: .5rem; flex-wrap: wrap; }
  a { color: inherit; }
  input, button { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--dim); border-radius: .3rem; padding: .3rem .6rem; max-width: 100%; }
  button { cursor: pointer; font-weight: 600; }
  label { display: block; margin: .75rem 0; }
  .actions { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; }
  .strip { display: flex; flex-wrap: wrap; gap: 3px; list-style: none; padding: 0; margin: .5rem 0 1rem; }
  .strip a, .strip span { display: block; width: 1.1rem; height: 1.4rem; background: var(--tone); border-radius: .15rem; }
  .facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .15rem 1rem; margin: .5rem 0; }
  .facts dt { color: var(--dim); } .facts dd { margin: 0; overflow-wrap: anywhere; }
  footer { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: .5rem; }
  section.feed h2 a { text-decoration-thickness: 1px; }
`

/** Exactly the text whose hash the policy has. */
const styleElement = raw(`<style>${style}</style>`)

/** What a browser may do with a page: apply this very style and send forms here. There is no script. */
export const pagePolicy = `default-src 'none'; style-src ${hashOf(style)}; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`

export interface Frame {
  title: string
  /** The name of a logged-in visitor, who can log out; null: none. */
  name: string | null
  /** The text in the search box. */
  sought?: string
}

/** Found once, as in a checkout git is asked. */
const version = programVersion()

/** A whole page. */
export function page({ title, name, sought = '' }: Frame, content: Piece): string {
  const leave =
    name === null
      ? ''
      : html`<form method="post" action="/logout"><button type="submit">Log out ${text(name, 40)}</button></form>`
  // A text and no promise, as nothing in it is asynchronous.
  return html`<!DOCTYPE html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${text(title)} · listing-sync</title>
        ${styleElement}
      </head>
      <body>
        <nav>
          <a href="/">Feeds</a>
          <form method="get" action="/listings" role="search">
            <input
              type="search"
              name="q"
              aria-label="Home"
              placeholder="MLS number or street"
              value="${text(sought)}"
            /><button type="submit">Find home</button>
          </form>
          ${leave}
        </nav>
        ${content}
        <footer class="dim">listing-sync ${version}</footer>
      </body>
    </html> ` as string
}

/** Foreign text on one line, without characters that would move or reorder it. */
export const text = (of: string, most = 500): string => shorten(printable(of), most)

/** A list of names and values. */
export function facts(rows: readonly (readonly [name: string, value: string | Piece])[]): Piece {
  return html`<dl class="facts">
    ${rows.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`
}

export function table(columns: readonly string[], rows: readonly (readonly (string | Piece)[])[]): Piece {
  return html`<table class="rows">
    <thead>
      <tr>
        ${columns.map((column) => html`<th scope="col">${column}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (cells) =>
          html`<tr>
            ${cells.map((cell) => html`<td>${cell}</td>`)}
          </tr> `,
      )}
    </tbody>
  </table>`
}

/** The address of a feed's page, or of one under it. */
export const feedPath = (feed: string, ...rest: (string | number)[]): string =>
  ['/feeds', encodeURIComponent(feed), ...rest].join('/')
