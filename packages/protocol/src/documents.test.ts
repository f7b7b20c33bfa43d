// The interface documents: valid by their own standards, and complete.
import { describe, expect, test } from 'bun:test'
import asyncApiSchema from '@asyncapi/specs/schemas/3.0.0-without-$id.json'
import { Validator } from '@seriousme/openapi-schema-validator'
import Ajv from 'ajv'
import addFormats from 'ajv-formats'
import { asyncApiDocument, openApiDocument } from './documents.ts'
import { API_BASE, type Endpoint, endpoints } from './endpoints.ts'
import { errors, isErrorCode } from './errors.ts'
import { clientFrames } from './frames/client-frames.ts'
import { closeCodes, relayFrames } from './frames/relay-frames.ts'

/** A document as its readers get it: plain JSON. */
// biome-ignore lint/suspicious/noExplicitAny: a document can contain anything
const read = (document: unknown): any => JSON.parse(JSON.stringify(document))

describe('the OpenAPI document', () => {
  const document = read(openApiDocument('1.2.3'))

  test('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(document)).toMatchObject({ valid: true })
    expect(document.info.version).toBe('1.2.3')
  })

  test('contains every endpoint once, with its status, its body and whether it needs a token', () => {
    const described = Object.entries<Record<string, { operationId: string }>>(document.paths).flatMap(
      ([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const expected = Object.values<Endpoint>(endpoints).flatMap(({ method, alsoMethod, path }) =>
      [method, ...(alsoMethod ? [alsoMethod] : [])].map((one) => `${one} ${API_BASE}${path}`),
    )
    const plain = ['GET /health', 'GET /ready', 'GET /openapi.json', 'GET /asyncapi.json']
    expect(described.toSorted()).toEqual([...expected, ...plain].toSorted())
    for (const endpoint of Object.values<Endpoint>(endpoints)) {
      const operation = document.paths[API_BASE + endpoint.path][endpoint.method.toLowerCase()]
      expect(Object.keys(operation.responses)).toContain(String(endpoint.status))
      expect('requestBody' in operation).toBe((endpoint.body ?? endpoint.rawBody) !== undefined)
      expect('security' in operation).toBe(endpoint.auth === 'account')
      const given: { in: string }[] = operation.parameters ?? []
      expect(given.filter((each) => each.in === 'path')).toHaveLength(endpoint.path.split('{').length - 1)
      expect(given.some((each) => each.in === 'query')).toBe(endpoint.query !== undefined)
    }
  })

  test("lists every error of an endpoint under the error's status", () => {
    for (const endpoint of Object.values<Endpoint>(endpoints)) {
      const { responses } = document.paths[API_BASE + endpoint.path][endpoint.method.toLowerCase()]
      for (const code of endpoint.errors) {
        expect(responses[errors[code].status].description).toContain(`\`${code}\``)
      }
    }
    expect(document.components.schemas.Problem.properties.error.enum.every(isErrorCode)).toBe(true)
  })

  test('gives each operation a unique id', () => {
    const ids = Object.values<Record<string, { operationId?: string }>>(document.paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId }) => operationId ?? []),
    )
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('the AsyncAPI document', () => {
  const document = read(asyncApiDocument('1.2.3'))

  test('is valid according to the official schema of AsyncAPI 3.0', () => {
    const ajv = new Ajv({ strict: false, allErrors: true })
    addFormats(ajv)
    const validate = ajv.compile(asyncApiSchema)
    validate(document)
    expect(validate.errors ?? []).toEqual([])
  })

  test('contains every frame of both directions, each under its operation', () => {
    const { messages } = document.channels.ws
    const expected = [
      ...Object.keys(clientFrames).map((type) => `client_${type}`),
      ...Object.keys(relayFrames).map((type) => `relay_${type}`),
    ]
    expect(Object.keys(messages).toSorted()).toEqual(expected.toSorted())
    for (const [name, { payload }] of Object.entries<{
      payload: { properties: { type: { const: string } } }
    }>(messages)) {
      expect(name.endsWith(`_${payload.properties.type.const}`)).toBe(true)
    }
    const { receiveFromClient, sendToClient } = document.operations
    expect(receiveFromClient.messages).toHaveLength(Object.keys(clientFrames).length)
    expect(sendToClient.messages).toHaveLength(Object.keys(relayFrames).length)
  })

  test('names every close code', () => {
    for (const code of Object.values(closeCodes)) expect(document.info.description).toContain(String(code))
  })
})
