import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startStandIn } from '../../src/stand-in/stand-in.ts'
import { chatbot, create, edit, post, started } from './caller.ts'

/** Every chatbot setting with a valid and an invalid value. */
const table: [name: string, right: unknown, wrong: unknown, problem: string][] = [
  ['Name', 'Ada', 1, 'must be a string'],
  ['Model', 'model-1', null, 'must be a string'],
  ['SystemMessage', 'You sell homes.', {}, 'must be a string'],
  ['Temperature', 1, 0.5, 'must be an integer'],
  ['TimeZone', 'Europe/Madrid', true, 'must be a string'],
  ['AnswerSuffix', ' – ask us!', [], 'must be a string'],
  ['ChatProfilePicture', '31', 31, 'must be a string'],
  ['ChatIcon', '32', 32, 'must be a string'],
  ['ChatBubbleAlign', -1, '1', 'must be an integer'],
  ['ChatBubbleColor', 'rgb(0,128,255)', '#0080ff', 'must be a colour'],
  ['ChatbotPopupOnce', false, 'false', 'must be a boolean'],
  ['ChatbotPrivacyPolicyDescription', 'We keep nothing.', 1, 'must be a string'],
  ['ChatbotPrivacyPolicyName', 'Privacy', 1, 'must be a string'],
  ['ChatbotPrivacyPolicyUrl', 'https://homes.example/privacy', 1, 'must be a string'],
  ['EnablePushToTalk', true, 1, 'must be a boolean'],
  ['EnableUploadImage', true, 0, 'must be a boolean'],
  ['FacebookUrl', 'https://social.example/f', 1, 'must be a string'],
  ['InstagramUrl', 'https://social.example/i', 1, 'must be a string'],
  ['RemoveChatLogOnBrowserClose', true, null, 'must be a boolean'],
  ['SuggestedMessage', 'What is new?', ['What is new?'], 'must be a string'],
  ['TalkToHumanEmail', 'person@homes.example', 1, 'must be a string'],
  ['TalkToHumanResponseMessage', 'One moment.', 1, 'must be a string'],
  ['UserInputPlaceholder', 'Type here', 1, 'must be a string'],
  ['UserMessageColor', 'rgb(255,255,255)', 'rgb(256,0,0)', 'must be a colour'],
  ['WelcomeMessage', 'Hello!', 1, 'must be a string'],
  ['WhatsappUrl', 'https://social.example/w', 1, 'must be a string'],
  ['VerifyDomain', false, 'no', 'must be a boolean'],
  ['Domains', 'homes.example', ['homes.example'], 'must be a string'],
  ['RateLimitCount', 10, '10', 'must be an integer'],
  ['RateLimitMessage', 'Slowly, please.', 1, 'must be a string'],
  ['RateLimitTime', 60, 60.5, 'must be an integer'],
  ['CustomDomain', 'chat.homes.example', 1, 'must be a string'],
  ['EmailForDailyChatLogs', 'log@homes.example', 1, 'must be a string'],
  ['EmailForDailyLeads', 'leads@homes.example', 1, 'must be a string'],
  ['AIResponseLanguage', 'Spanish', 1, 'must be a string'],
  ['MessageLimit', -1, null, 'must be an integer'],
]

test('every field of the table is taken and kept, and Data is 1', async () => {
  const standIn = await started()
  const all = Object.fromEntries(table.map(([name, right]) => [name, right]))
  const answered = await edit(standIn, all)
  expect(answered.json).toEqual({ Data: 1, Version: '1.0.0', Success: true, Code: 200, Message: '' })
  expect(standIn.settings(chatbot)).toEqual(all)
  expect(standIn.counts).toMatchObject({ Edit: 1, Create: 0 })
  expect(standIn.requests).toMatchObject([{ operation: 'Edit', success: true, body: { serialNumber: chatbot } }])
})

test.each(table)('%s takes %j, not %j', async (name, right, wrong, problem) => {
  const standIn = await started()
  expect((await edit(standIn, { [name]: right })).json).toMatchObject({ Success: true, Data: 1 })
  const { json } = await edit(standIn, { [name]: wrong, Name: name === 'Name' ? wrong : 'not kept' })
  expect(json).toMatchObject({ Success: false, Code: 400, Data: null })
  expect(json.Message).toContain(`${name} ${problem}`)
  expect(standIn.settings(chatbot)).toEqual({ [name]: right })
})

test.each(['rgb(0, 0, 0)', 'RGB(0,0,0)', 'rgb(0,0)', 'rgb(1000,0,0)', 'rgb(-1,0,0)', 'rgba(0,0,0,1)', 'red', 0])(
  '%j is no colour',
  async (colour) => {
    const standIn = await started()
    expect((await edit(standIn, { ChatBubbleColor: colour })).json.Message).toContain('rgb(r,g,b)')
  },
)

test.each([
  ['{"Name":"Ada"}', 'serialNumber is required'],
  ['{"serialNumber":"","Name":"Ada"}', 'serialNumber must not be empty'],
  ['{"serialNumber":7,"Name":"Ada"}', 'serialNumber must be a string'],
  ['{"SerialNumber":"SN-1"}', 'SerialNumber is not a field of Edit'],
  ['{"serialNumber":"SN-1","name":"Ada"}', 'name is not a field of Edit'],
  ['{"serialNumber":"SN-1","__proto__":{"Name":"Ada"}}', '__proto__ is not a field of Edit'],
  ['{"serialNumber":"SN-1","constructor":"Ada"}', 'constructor is not a field of Edit'],
  ['[]', 'The body must be a JSON object'],
  ['', 'The body must be JSON'],
])('%s is refused', async (body, message) => {
  const standIn = await started()
  const { json } = await post(standIn, 'Edit', body)
  expect(json).toMatchObject({ Success: false, Code: 400 })
  expect(json.Message).toContain(message)
  expect(standIn.settings(chatbot)).toEqual({})
})

test('a refused Edit comes as the profile says that refusals come', async () => {
  const refusals = { invalid: { code: 422, message: 'Nope' } }
  const standIn = await started({ profile: { refusalsVia: 'http', refusals } })
  const { status, json } = await edit(standIn, { Name: 1 })
  expect([status, json.Code, json.Message]).toEqual([422, 422, 'Nope'])
})

test('chatbots do not see each other; one that does not exist is refused', async () => {
  const standIn = await started({ profile: { chatbots: [chatbot, 'SN-2'] } })
  await edit(standIn, { Name: 'Ada' })
  await edit(standIn, { Name: 'Bob', serialNumber: 'SN-2' })
  const { json } = await edit(standIn, { Name: 'Eve', serialNumber: 'SN-3' })
  expect(json).toMatchObject({ Success: false, Code: 404, Message: 'There is no chatbot SN-3' })
  expect([chatbot, 'SN-2', 'SN-3'].map((text) => standIn.settings(text))).toEqual([
    { Name: 'Ada' },
    { Name: 'Bob' },
    {},
  ])
})

test.each([
  ['kept', { Name: 'Ada', WelcomeMessage: 'Hi' }],
  ['cleared', { WelcomeMessage: 'Hi' }],
] as const)('settings that an Edit leaves out are %s', async (omittedSettings, expected) => {
  const standIn = await started({ profile: { omittedSettings } })
  await edit(standIn, { Name: 'Ada' })
  expect((await edit(standIn, { WelcomeMessage: 'Hi' })).json.Data).toBe(1)
  expect(standIn.settings(chatbot)).toEqual(expected)
})

test('an empty text is a setting, unless the profile refuses it; nothing at all to set is fine', async () => {
  const standIn = await started()
  expect((await edit(standIn, { AnswerSuffix: '', ChatBubbleColor: '' })).json.Success).toBe(true)
  expect((await edit(standIn, {})).json.Data).toBe(1)
  expect(standIn.settings(chatbot)).toEqual({ AnswerSuffix: '', ChatBubbleColor: '' })
  standIn.changeProfile({ emptySetting: 'refused' })
  expect((await edit(standIn, { AnswerSuffix: '' })).json.Message).toBe('AnswerSuffix must not be empty')
})

test.each([
  ['Authorization', { authorization: 'secret' }, true],
  ['chatrobot-sessionkey', { 'chatrobot-sessionkey': 'session' }, false],
] as const)('S1: with the secret key asked for, %s opens Edit: %j', async (_header, key, letIn) => {
  const standIn = await started({
    keys: { secret: 'secret', session: 'session' },
    profile: { headers: { Edit: 'secret' } },
  })
  const { json } = await edit(standIn, { Name: 'Ada' }, { 'content-type': 'application/json', ...key })
  expect(json).toMatchObject({ Success: letIn, Code: letIn ? 200 : 401 })
  expect(standIn.settings(chatbot)).toEqual(letIn ? { Name: 'Ada' } : {})
})

test.each([
  [{ kind: 'status', status: 503 } as const, 503, {}],
  [{ kind: 'status', status: 502, carriedOut: true } as const, 502, { Name: 'Ada' }],
  [{ kind: 'pretend' } as const, 200, {}],
  [{ kind: 'body', form: 'null-data' } as const, 200, { Name: 'Ada' }],
])('the fault %j strikes Edit', async (fault, status, kept) => {
  const standIn = await started()
  standIn.addFault({ operations: ['Edit'], fault })
  const answered = await edit(standIn, { Name: 'Ada' })
  expect([answered.status, standIn.settings(chatbot)]).toEqual([status, kept])
  if (fault.kind === 'pretend') expect(answered.json).toMatchObject({ Success: true, Data: 1 })
  expect(standIn.requests).toMatchObject([{ operation: 'Edit', fault: fault.kind }])
})

test('settings can be read over HTTP', async () => {
  const standIn = await started()
  await edit(standIn, { Name: 'Ada' })
  const at = (query: string) => fetch(`${standIn.url}/_stand-in/settings${query}`)
  expect(await (await at(`?SerialNumber=${chatbot}`)).json()).toEqual({ Name: 'Ada' })
  expect((await at('')).status).toBe(400)
})

test('settings outlive a restart when there is a file; a file with settings that are none is not taken', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'stand-in-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'data.jsonl')
  const first = await started({ file })
  await edit(first, { Name: 'Ada', RateLimitCount: 3 })
  await create(first)
  await edit(first, { Name: 'Eve' })
  await first.close()
  const second = await started({ file })
  expect(second.settings(chatbot)).toEqual({ Name: 'Eve', RateLimitCount: 3 })
  expect(second.listings(chatbot)).toHaveLength(1)
  await second.close()
  const third = await started({ file })
  expect(third.settings(chatbot)).toEqual({ Name: 'Eve', RateLimitCount: 3 })
  await third.close()
  writeFileSync(file, '{"nextId":1}\n{"serialNumber":"SN-1","settings":{"Name":1}}\n')
  await expect(startStandIn({ file })).rejects.toThrow('line 2')
})
