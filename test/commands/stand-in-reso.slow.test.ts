/** `stand-in reso` as a process: what it prints is enough to read a page, and SIGTERM ends it. */
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { command } from '../support/program.ts'

interface Printed {
  source: { reso: string; vendor: string; auth: { clientId: string; clientSecret: string; tokenUrl: string } }
}

test('a page of homes for the credentials that it prints, none without them', async () => {
  const ended = await command(['stand-in', 'reso', '--vendor', 'trestle', '--homes', '12', '--port', '0'], {
    onStart: async (child) => {
      const { source } = await new Promise<Printed>((resolve, reject) => {
        let output = ''
        child.on('close', () => reject(new Error(`the stand-in ended: ${output}`)))
        child.stdout!.on('data', (text: string) => {
          const found = /^stand-in listens on \S+\n(source: .*\n)/.exec((output += text))
          if (found !== null) resolve(parse(found[1]) as Printed)
        })
      })
      expect(source).toMatchObject({ reso: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\//), vendor: 'trestle' })
      const { clientId, clientSecret, tokenUrl } = source.auth
      const form = { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }
      const given = await fetch(tokenUrl, { method: 'POST', body: new URLSearchParams(form) })
      const { access_token: token } = (await given.json()) as { access_token: string }
      const property = `${source.reso}/Property`
      const page = await fetch(property, { headers: { authorization: `Bearer ${token}` } })
      expect(page.status).toBe(200)
      const { value } = (await page.json()) as { value: { ListingKey: string }[] }
      expect(new Set(value.map(({ ListingKey }) => ListingKey)).size).toBe(10)
      expect((await fetch(property)).status).toBe(401)
      child.kill('SIGTERM')
    },
  })
  expect(ended).toMatchObject({ status: 0, stderr: '' })
})
