/** The form that asks for the token, and for a name: who approves is recorded. */
import { html } from 'hono/html'
import { text } from './frame.ts'
import type { Piece } from './frame.ts'

/** The path to go to after the log-in, which must be of this site. */
export const pathOf = (wanted: string | undefined): string =>
  wanted !== undefined && /^\/(?![/\\])[\x21-\x7e]*$/.test(wanted) ? wanted : '/'

export function loginPage(to: string, notice: string | null): Piece {
  return html`<h1 class="plain">Log in</h1>
    ${notice === null ? '' : html`<p class="note" role="alert">${text(notice)}</p>`}
    <form method="post" action="/login">
      <input type="hidden" name="to" value="${to}" />
      <label
        >Your name, which is recorded with what you approve<br /><input
          name="name"
          required
          maxlength="60"
          autocomplete="username"
      /></label>
      <label
        >Token (http.token of the configuration)<br /><input
          name="token"
          type="password"
          required
          autocomplete="current-password"
      /></label>
      <button type="submit">Log in</button>
    </form>
    <p class="dim"><a href="${to}">Go on</a>, if you are logged in and followed a link of another site.</p>`
}
