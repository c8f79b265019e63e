/** The pages' own settings: `http` of the configuration. */
import { z } from 'zod'
import { isLoopback } from '../core/loopback.ts'
import { judgedBy, later, text } from '../core/setting-kinds.ts'

/** The parts of an address to listen at; null: it is none. */
export function listenPlace(listen: string): { hostname: string; port: number } | null {
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(listen) ?? []
  const hostname = bracketed ?? plain
  return hostname === undefined || Number(port) > 65_535 ? null : { hostname, port: Number(port) }
}

const shortestToken = 16

function tokenProblem(token: string): string | null {
  if (token.length < shortestToken)
    return `is too short: at least ${shortestToken} characters; openssl rand -hex 32 makes one`
  return /^[\x21-\x7e]*$/.test(token) ? null : 'has characters that a header cannot carry'
}

export const httpSchema = later(() =>
  z
    .strictObject({
      listen: text('Address and port, such as 127.0.0.1:9464. Port 0: any free one; the log names it').superRefine(
        judgedBy((listen) =>
          listenPlace(listen) === null ? 'takes an address and a port, such as 127.0.0.1:9464 or [::1]:9464' : null,
        ),
      ),
      token: text(
        'Whoever has it may read the pages. Normally ${file:PATH}. Needed for approve, and if other machines can reach the pages',
      )
        .superRefine(judgedBy(tokenProblem))
        .optional(),
      approve: z
        .boolean()
        .prefault(false)
        .meta({ description: 'true: whoever has the token may approve or refuse what is held, and revoke either' }),
      hosts: z
        .array(text('A name').regex(/^[a-z0-9.-]+$/i, 'takes a name without a port, such as sync.example.com'))
        .prefault([])
        .meta({ description: 'Names under which browsers may reach the pages, beside localhost and bare addresses' }),
    })
    .superRefine(({ listen, token, approve }, context) => {
      const needed = (problem: string): void => context.addIssue({ code: 'custom', path: ['token'], message: problem })
      if (token !== undefined) return
      if (listenPlace(listen) !== null && !isLoopback(`http://${listen}`))
        needed(`is missing, and ${listen} can be reached from other machines; give one, or listen on 127.0.0.1`)
      else if (approve) needed('is missing, and without one anybody on this machine could approve')
    })
    .meta({ description: 'Pages, health and metrics over HTTP while the daemon runs; left out: none' }),
)

export type HttpSettings = z.output<typeof httpSchema>
