// The part that attacks every HTTP endpoint of the relay's OpenAPI document, and its pages.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { call } from '../packages/relay/test/wire.ts'
import { brokenHttp } from './broken-http.ts'
import type { Schema } from './from-schema.ts'
import { HttpLane, INTERNALS, mayLoseAnswer, type RawAnswer, sendBytes } from './http.ts'
import { Finding, type Inputs } from './inputs.ts'
import { LiveValues } from './live-values.ts'
import type { Part } from './part.ts'
import { ACCOUNTS, type FuzzRequest, type Operation, Requests, textOf } from './requests.ts'
import { attackRelay, type Target } from './target.ts'

const LANES = 16

export const routes: Part = {
  name: 'routes',
  means: 'every HTTP endpoint: valid requests, almost valid ones, and bytes that are hardly HTTP',
  share: 5,
  run: (inputs, engine) =>
    attackRelay(inputs, { engine, settings: SETTINGS }, (target) => attackRoutes(inputs, target)),
}

const SETTINGS = {
  MANUAL_PAY_TO: 'the till',
  LIMIT_MEDIA_ACCOUNT_BYTES: '1048576',
  LIMIT_MEDIA_UPLOADS: '40',
  LIMIT_CHANNEL_POSTS: '50',
}

async function attackRoutes(inputs: Inputs, { url, port }: Target): Promise<void> {
  const lives = new LiveValues(url)
  await lives.addAccounts(ACCOUNTS)
  const requests = new Requests([...(await operationsOf(url)), ...PAGES])
  const lanes = Array.from({ length: LANES }, () => new HttpLane({ port }))
  const answers = new Answers()
  try {
    await inputs.inLanes(LANES, async (index, draws, number) => {
      const { operation, request } = requests.make(draws)
      const text = textOf(request, (part) => lives.fill(part))
      const named = textOf(request, (part) => part)
      if (request.kind === 'broken') {
        const bytes = brokenHttp(text, draws)
        inputs.sending(index, Buffer.from(bytes).toString())
        check(index, named, inputs, await sendBytes({ port }, bytes, draws.chance(0.5)))
        return
      }
      inputs.sending(index, named)
      const answer = await lanes[number]?.ask(Buffer.from(text), request.method === 'HEAD')
      if (!answer) return
      check(index, named, inputs, answer)
      if (answer.status === 0 && !mayLoseAnswer(text))
        throw new Finding(`no answer to input ${index}: ${named}`)
      answers.check(operation, request, answer)
      if (answer.status < 300 && isJson(answer)) lives.learn(JSON.parse(answer.body))
      if (answer.status === 401 && request.account !== undefined) await lives.renew(request.account)
    })
  } finally {
    for (const lane of lanes) lane.close()
  }
}

/** What no answer may be, whatever the request was. */
function check(index: number, input: string, inputs: Inputs, { status, head, body }: RawAnswer): void {
  inputs.answered(status === 0 ? 'closed' : status)
  const fail = (what: string): never => {
    throw new Finding(
      `${what}\ninput ${index}: ${input.slice(0, 2000)}\nanswer: ${head}\n\n${body.slice(0, 1000)}`,
    )
  }
  // 503 is a provider that the relay does not have; 501 and 505 are what the server says of unknown HTTP.
  const isExpected =
    status === 503 ? /"error":"\w+_UNAVAILABLE"/.test(body) : status === 501 || status === 505
  if (status >= 500 && !isExpected) fail(`status ${status}`)
  if (status < 400) return
  if (INTERNALS.test(body)) fail('an answer reveals internals')
  if (!isJson({ head, body })) return
  const problem: unknown = JSON.parse(body)
  if (Reflect.get(Object(problem), 'status') !== status) fail('the problem document has another status')
  if (status !== 409 && body.includes('409')) fail('an answer with another status contains 409')
}

function isJson({ head, body }: Pick<RawAnswer, 'head' | 'body'>): boolean {
  return body !== '' && /^content-type: application\/(?:problem\+)?json/im.test(head)
}

/** What answers to requests in the form of an operation may be. */
class Answers {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false })
  readonly #validators = new Map<Schema, ValidateFunction>()

  check(operation: Operation, { kind, method }: FuzzRequest, { status, body, head }: RawAnswer): void {
    const { path, answers } = operation
    if (kind !== 'documented' || !answers) return
    if (!(status in answers))
      throw new Finding(`${method} ${path} answered ${status}, which its document does not have: ${body}`)
    if (status === 400) checkField(operation, body)
    const schema = answers[status]
    if (!schema || !isJson({ head, body }) || status >= 400) return
    const validate = this.#validators.get(schema) ?? this.#ajv.compile(schema)
    this.#validators.set(schema, validate)
    if (validate(JSON.parse(body))) return
    throw new Finding(`${method} ${path} answered ${body}: ${this.#ajv.errorsText(validate.errors)}`)
  }
}

/** The field that an answer names is one of the operation. */
function checkField({ method, path, body, parameters }: Operation, answer: string): void {
  const { error, field } = JSON.parse(answer)
  const own = typeof body === 'object' ? Object.keys(body.properties ?? {}) : []
  const fields = [...own, ...parameters.map(({ name }) => name), 'body']
  if (error === 'INVALID_FIELD' && !fields.includes(`${field}`.split('.', 1).join('')))
    throw new Finding(`${method} ${path} names the field ${field}, which it does not have`)
}

/** What the relay serves besides its endpoints. */
const PAGES: readonly Operation[] = [
  ...[
    '/',
    '/health',
    '/ready',
    '/ws',
    '/pay/⟨order 1⟩',
    '/pay/⟨order 2⟩/state',
    '/payments/webhook',
    '/favicon.ico',
  ],
].map((path) => ({ method: 'get', path, parameters: [], body: undefined, answers: undefined }))

async function operationsOf(url: string): Promise<Operation[]> {
  const { body } = await call(`${url}/openapi.json`)
  const operations: Operation[] = []
  for (const [path, methods] of Object.entries<Record<string, Described>>(body.paths)) {
    for (const [method, described] of Object.entries(methods))
      operations.push(operationOf(path, method, described))
  }
  return operations.filter(({ path }) => path.startsWith('/api/'))
}

/** An operation in the document's form. */
interface Described {
  readonly parameters?: Operation['parameters']
  readonly requestBody?: { readonly content: Contents }
  readonly responses: Readonly<Record<string, { readonly content?: Contents }>>
}
type Contents = Readonly<Record<string, { readonly schema?: Schema }>>

function operationOf(path: string, method: string, described: Described): Operation {
  const { parameters = [], requestBody, responses } = described
  const answers = Object.entries(responses).map(
    ([status, { content }]) => [status, content?.['application/json']?.schema] as const,
  )
  const body = requestBody && (requestBody.content['application/json']?.schema ?? 'bytes')
  return { method, path, parameters, body, answers: Object.fromEntries(answers) }
}
