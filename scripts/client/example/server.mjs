// A web back end that streams a chatbot's answers to a browser with server-sent events. The keys stay on the server.
//
//   LISTING_SERVICE=http://127.0.0.1:8080 LISTING_SECRET_KEY=any PORT=3000 node server.mjs
import { createServer } from 'node:http'
import { BrokenAnswerError, createService, RequestError, ServiceError } from 'listing-sync-client'

const { LISTING_SERVICE: baseUrl = 'http://127.0.0.1:8080', LISTING_SECRET_KEY: secretKey, PORT = '3000' } = process.env
const service = createService({ baseUrl, secretKey, timeout: 60_000 })

const page = `<!doctype html>
<meta charset="utf-8"><title>Ask</title>
<form><input name="session" placeholder="session" size="6" required><input name="text" size="50" required><button>Ask</button></form>
<p id="answer" style="white-space: pre-wrap"></p>
<script>
  const answer = document.querySelector('#answer')
  let source
  document.querySelector('form').onsubmit = (event) => {
    event.preventDefault()
    source?.close()
    answer.textContent = ''
    source = new EventSource('/ask?' + new URLSearchParams(new FormData(event.target)))
    source.addEventListener('piece', ({ data }) => (answer.textContent += JSON.parse(data).content))
    source.addEventListener('whole', ({ data }) => { answer.textContent = JSON.parse(data).Answer; source.close() })
    source.addEventListener('failure', ({ data }) => { answer.textContent += '\\n' + JSON.parse(data).problem; source.close() })
    // Without this the browser would ask again, and a message would be paid twice.
    source.onerror = () => source.close()
  }
</script>`

/** What a visitor is told: the service's own words may be about keys and addresses, so they go to the log. */
function told(error) {
  if (error instanceof RequestError) return { problem: 'This can not be asked.', retryable: false }
  if (error instanceof BrokenAnswerError) return { problem: 'The answer broke off.', retryable: false }
  return { problem: 'The chatbot can not be reached at the moment.', retryable: error.retryable ?? false }
}

/** GET /ask?session=7&text=… A site of your own takes the session from its login, not from the browser. */
async function ask(url, response) {
  const left = new AbortController()
  response.on('close', () => left.abort())
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  const tell = (event, data) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
  const question = {
    sessionID: Number(url.searchParams.get('session') || NaN),
    content: url.searchParams.get('text') ?? '',
  }
  try {
    for await (const part of service.askStreaming(question, { signal: left.signal }))
      tell('content' in part ? 'piece' : 'whole', part)
  } catch (error) {
    if (left.signal.aborted) return
    const isOurs = error instanceof ServiceError || error instanceof RequestError
    console.error(isOurs ? error.message : error)
    tell('failure', told(error))
  }
  response.end()
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://localhost')
  if (request.method === 'GET' && url.pathname === '/ask') void ask(url, response)
  else if (request.method === 'GET' && url.pathname === '/')
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page)
  else response.writeHead(404).end()
})
server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${server.address().port}`))
