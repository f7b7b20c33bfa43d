// Values that follow a JSON Schema, as the relay's own documents describe its requests.
import fc from 'fast-check'
import { live } from './live-values.ts'
import { anyText } from './values.ts'

/** The part of JSON Schema that the relay's documents use. */
export interface Schema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly maxItems?: number
  readonly pattern?: string
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
}

/** The kind of live value that a field names. `id` depends on the path. */
const KINDS: Readonly<Record<string, string>> = {
  ...{ alias_id: 'alias', to_alias_id: 'alias', user_uuid: 'uuid', channel_id: 'channel', order_id: 'order' },
  ...{ post_id: 'post', before: 'post', upload_id: 'upload', media_key: 'media', mediaKey: 'media' },
  ...{ key: 'media', link: 'link', etag: 'etag', conversation_id: 'conversation', challenge: 'challenge' },
  ...{ signature: 'signature', pow_challenge: 'pow', pow_nonce: 'nonce', ed25519_public_key: 'signing-key' },
  ...{ vapid_public_key: 'vapid' },
}
const KINDS_OF_ID: Readonly<Record<string, string>> = {
  friends: 'friendship',
  channels: 'channel',
  order: 'order',
  invites: 'invite',
}

/** No name server knows it, so a push is sent nowhere. */
const PUSH_ENDPOINTS = fc.integer({ min: 0, max: 999 }).map((number) => `https://push.invalid/${number}`)

/**
 * Valid values of a schema, most of them with live values.
 * @param name the field that has the value
 * @param path the path of the request
 */
export function valuesOf(schema: Schema, name = '', path = ''): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'object':
      return objectsOf(schema, path)
    case 'array': {
      const items = valuesOf(schema.items ?? {}, '', path)
      return fc.array(items, { minLength: 1, maxLength: Math.min(4, schema.maxItems ?? 4) })
    }
    case 'integer':
    case 'number':
      return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1000 })
    case 'boolean':
      return fc.boolean()
    default:
      return textsOf(schema, name, path)
  }
}

function objectsOf({ properties = {}, required = [] }: Schema, path: string): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([name, each]) => [name, valuesOf(each, name, path)] as const)
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...required] })
}

function textsOf(schema: Schema, name: string, path: string): fc.Arbitrary<string> {
  if (name === 'endpoint') return PUSH_ENDPOINTS
  const valid = ownTextsOf(schema)
  const kind = name === 'id' ? KINDS_OF_ID[/(\w+)\/\{id\}/.exec(path)?.[1] ?? ''] : KINDS[name]
  if (kind === undefined) return valid
  const lives = fc.nat(63).map((number) => live(kind, number))
  return fc.oneof({ weight: 4, arbitrary: lives }, { weight: 1, arbitrary: valid })
}

// fast-check makes texts of a pattern without classes of Unicode. Long ones would only take time.
function ownTextsOf({ pattern, maxLength = 60 }: Schema): fc.Arbitrary<string> {
  if (pattern === undefined || pattern.includes('\\p')) return fc.oneof(fc.string({ maxLength }), anyText)
  return fc.stringMatching(new RegExp(pattern.replace(/\{(\d+),(\d{3,})\}/, '{$1,80}')))
}
