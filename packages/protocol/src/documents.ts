// Generates the interface documents from the schemas: OpenAPI 3.1 for HTTP, AsyncAPI 3 for the WebSocket.
import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import { API_BASE, type Endpoint, endpointSummaries, endpoints, suspendedMayCall } from './endpoints.ts'
import { type ErrorCode, errorMeanings, errors } from './errors.ts'
import { clientFrames } from './frames/client-frames.ts'
import { closeCodes, closeMeanings, relayFrames } from './frames/relay-frames.ts'
import { rates } from './rates.ts'

type Json = { readonly [key: string]: unknown }

/** Indexed by any name here; the type of `endpointSummaries` guarantees one for every endpoint. */
const summaries: Readonly<Record<string, string>> = endpointSummaries

const LICENSE = { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' }

/** Codes that every endpoint can answer, besides those in its table entry. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  'INVALID_JSON',
  'INVALID_FIELD',
  'PAYLOAD_TOO_LARGE',
  'RATE_LIMITED',
  'INTERNAL',
  'SHUTTING_DOWN',
  'STORE_UNAVAILABLE',
]
const ACCOUNT_ERRORS: readonly ErrorCode[] = ['UNAUTHENTICATED', 'TOKEN_DEAD']

/** The HTTP interface (OpenAPI 3.1). */
export function openApiDocument(version: string): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const [name, endpoint] of Object.entries<Endpoint>(endpoints)) {
    const path = paths[API_BASE + endpoint.path] ?? {}
    paths[API_BASE + endpoint.path] = path
    const summary = summaries[name] ?? ''
    path[endpoint.method.toLowerCase()] = operation(name, endpoint, summary)
    if (endpoint.alsoMethod) {
      path[endpoint.alsoMethod.toLowerCase()] = operation(
        `${name}By${endpoint.alsoMethod}`,
        endpoint,
        summary,
      )
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sotto relay',
      version,
      license: LICENSE,
      summary: 'End-to-end encrypted messaging relay',
    },
    servers: [{ url: './' }], // Relative to this document: a proxy may serve the relay below a path.
    paths: { ...paths, ...plainPaths() },
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { Problem: problemSchema() },
    },
  }
}

/** The WebSocket interface (AsyncAPI 3). */
export function asyncApiDocument(version: string): Json {
  const sent = messagesOf(clientFrames, 'client')
  const received = messagesOf(relayFrames, 'relay')
  const refs = (messages: Json): Json[] =>
    Object.keys(messages).map((name) => ({ $ref: `#/channels/ws/messages/${name}` }))
  return {
    asyncapi: '3.0.0',
    info: { title: 'Sotto relay', version, license: LICENSE, description: closeCodeText() },
    defaultContentType: 'application/json',
    channels: {
      ws: {
        address: '/ws',
        description: 'One text frame is one JSON object with `type`.',
        messages: { ...sent, ...received },
        bindings: {
          ws: {
            method: 'GET',
            query: {
              type: 'object',
              properties: {
                user_uuid: { type: 'string', description: 'the account' },
                ticket: { type: 'string', description: 'from POST /api/v1/ws/ticket; works once' },
                token: {
                  type: 'string',
                  description: 'instead of a ticket, for older clients; or an Authorization header',
                },
              },
            },
          },
        },
      },
    },
    operations: {
      receiveFromClient: { action: 'receive', channel: { $ref: '#/channels/ws' }, messages: refs(sent) },
      sendToClient: { action: 'send', channel: { $ref: '#/channels/ws' }, messages: refs(received) },
    },
  }
}

function operation(name: string, endpoint: Endpoint, summary: string): Json {
  const rate = rates[endpoint.rate]
  const codes = new Set([
    ...endpoint.errors,
    ...COMMON_ERRORS,
    ...(endpoint.auth === 'account' ? ACCOUNT_ERRORS : []),
    ...(endpoint.auth === 'account' && !suspendedMayCall.some((each) => each === name)
      ? (['ACCOUNT_SUSPENDED'] as const)
      : []),
    // A disk without any space left fails every write.
    ...(endpoint.method === 'GET' ? [] : (['RELAY_FULL'] as const)),
  ])
  return {
    operationId: name,
    summary,
    description: `Rate \`${endpoint.rate}\`: ${rate.burst} in ${rate.perSeconds} s by ${rate.by}, unless set otherwise.`,
    ...(endpoint.auth === 'account' ? { security: [{ token: [] }] } : {}),
    ...parametersOf(endpoint),
    ...bodyOf(endpoint),
    responses: { ...repliesOf(endpoint, summary), ...problemsOf(codes) },
  }
}

// The media type alone describes raw bytes (OpenAPI 3.1, "Considerations for File Uploads").
function bodyOf({ body, rawBody }: Endpoint): Json {
  if (!body && !rawBody) return {}
  const content = body
    ? { 'application/json': { schema: schemaOf(body) } }
    : { 'application/octet-stream': {} }
  return { requestBody: { required: true, content } }
}

function repliesOf(endpoint: Endpoint, summary: string): Json {
  if (!endpoint.rawReply) return { [endpoint.status]: replyOf(endpoint, summary) }
  const bytes = (description: string): Json => ({
    description,
    content: { 'application/octet-stream': {} },
  })
  return {
    200: bytes('The whole blob'),
    206: bytes('The requested range'),
    304: { description: 'The ETag matches: the blob has not changed' },
  }
}

function replyOf(endpoint: Endpoint, summary: string): Json {
  const { reply } = endpoint
  return {
    description: reply ? summary : 'Done',
    content: { 'application/json': { schema: reply ? schemaOf(reply) : { type: 'object' } } },
  }
}

function problemsOf(codes: Iterable<ErrorCode>): Json {
  const byStatus = Map.groupBy(codes, (code) => errors[code].status)
  const entries = [...byStatus].map(([status, of]) => [
    status,
    {
      description: of.map((code) => `\`${code}\`: ${errorMeanings[code]}`).join('\n\n'),
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  ])
  return Object.fromEntries(entries)
}

function parametersOf({ params, query }: Endpoint): Json {
  const listed = (schema: v.GenericSchema | undefined, where: 'path' | 'query'): Json[] => {
    const { properties = {}, required = [] } = schema ? schemaOf(schema) : {}
    return Object.entries(properties as Json).map(([name, each]) => ({
      name,
      in: where,
      required: where === 'path' || (Array.isArray(required) && required.includes(name)),
      schema: each,
    }))
  }
  const parameters = [...listed(params, 'path'), ...listed(query, 'query')]
  return parameters.length === 0 ? {} : { parameters }
}

function plainPaths(): Json {
  const json = (summary: string) => ({
    get: { summary, responses: { 200: { description: summary, content: { 'application/json': {} } } } },
  })
  return {
    '/health': json('The process answers; `registration` is `open`, `invite` or `closed`'),
    '/ready': json('The relay can work; 503 if it cannot'),
    '/openapi.json': json('This document'),
    '/asyncapi.json': json('The WebSocket interface'),
  }
}

function problemSchema(): Json {
  return {
    type: 'object',
    description: 'RFC 9457, with one extra member, `error`.',
    required: ['type', 'title', 'status', 'error'],
    properties: {
      type: { type: 'string', format: 'uri' },
      title: { type: 'string' },
      status: { type: 'integer' },
      error: { type: 'string', enum: Object.keys(errors) },
      detail: { type: 'string' },
      field: { type: 'string', description: 'the field at fault' },
      limit: { type: 'string', description: 'the rate that was exceeded', enum: Object.keys(rates) },
      uuid: { type: 'string', description: 'only with `ACCOUNT_EXISTS`' },
      alias_id: { type: 'string', description: 'only with `ACCOUNT_EXISTS`' },
    },
  }
}

function messagesOf(frames: Readonly<Record<string, v.GenericSchema>>, sender: 'client' | 'relay'): Json {
  const entries = Object.entries(frames).map(([type, schema]) => [
    `${sender}_${type}`,
    { name: type, title: `${type}, sent by the ${sender}`, payload: schemaOf(schema) },
  ])
  return Object.fromEntries(entries)
}

function closeCodeText(): string {
  const meanings: Readonly<Record<string, string>> = closeMeanings
  return Object.entries(closeCodes)
    .map(([reason, code]) => `Closes with ${code}: ${meanings[reason] ?? ''}.`)
    .join(' ')
}

// JSON Schema cannot express a transformation or a brand. Neither changes what may be sent.
function schemaOf(schema: v.GenericSchema): Json {
  const { $schema: _, ...rest } = toJsonSchema(schema, { typeMode: 'input', errorMode: 'ignore' })
  return rest
}
