// What a store keeps of profiles: the own one, those of contacts, and which one each contact was sent.
import type { SecretProfile } from '@sotto/crypto/version-3'
import { ConversationId, Name } from '@sotto/protocol'
import * as v from 'valibot'
import { type ClientStore, LIBRARY_VALUES, type SessionRecord, type StoreChange } from '../stores/stores.ts'

/** What this account is called by itself. */
const OwnProfile = v.object({
  /** Empty once the name was taken back. */
  name: v.union([Name, v.literal('')]),
  /** When it was set: later than any before. */
  at: v.number(),
})
/** See {@link OwnProfile}. */
export type OwnProfile = v.InferOutput<typeof OwnProfile>

/** What a contact is called by itself. */
const PeerProfile = v.object({
  ...OwnProfile.entries,
  /** The X25519 key of the contact that said so. Another one is another person, until the user decides. */
  key: v.string(),
})
/** See {@link PeerProfile}. */
export type PeerProfile = v.InferOutput<typeof PeerProfile>

/** The profile that a contact was sent last. */
const SentProfile = v.object({
  /** `at` of the profile. */
  at: v.number(),
  key: v.string(),
  /** The id of the message. */
  id: v.string(),
  sentAt: v.number(),
})
/** See {@link SentProfile}. */
export type SentProfile = v.InferOutput<typeof SentProfile>

/** A contact's name for itself. */
export const ContactProfile = v.object({ conversationId: ConversationId, name: v.string() })
/** See {@link ContactProfile}. */
export type ContactProfile = Readonly<v.InferOutput<typeof ContactProfile>>

/** A profile of the contact, as it was received. Its name is cleaned, and empty if it was taken back. */
export type ReadProfile = Pick<PeerProfile, 'name' | 'at'>

const PREFIX = `${LIBRARY_VALUES}profile`
const OWN = `${PREFIX}/own`
const PEER = `${PREFIX}/peer/`
const SENT = `${PREFIX}/sent/`

/** Everything that is stored of profiles. */
export interface StoredProfiles {
  own: OwnProfile | undefined
  /** By conversation. */
  readonly peers: Map<string, PeerProfile>
  readonly sent: Map<string, SentProfile>
}

/** Reads what is stored. */
export async function readProfiles(store: Pick<ClientStore, 'listAppData'>): Promise<StoredProfiles> {
  const found: StoredProfiles = { own: undefined, peers: new Map(), sent: new Map() }
  for (const { name, value } of await store.listAppData()) {
    if (name === OWN) found.own = read(OwnProfile, value)
    else if (name.startsWith(PEER)) put(found.peers, name.slice(PEER.length), read(PeerProfile, value))
    else if (name.startsWith(SENT)) put(found.sent, name.slice(SENT.length), read(SentProfile, value))
  }
  return found
}

/** What a content of the contact says; undefined if its name is no name for people. */
export function readProfile({ name, at }: SecretProfile): ReadProfile | undefined {
  if (name === undefined) return { name: '', at }
  const cleaned = v.safeParse(Name, name)
  return cleaned.success ? { name: cleaned.output, at } : undefined
}

/** The names of contacts, of those that have one and whose keys are still those that said it. */
export function namesOfContacts(
  { peers }: Pick<StoredProfiles, 'peers'>,
  sessions: readonly Pick<SessionRecord, 'conversationId' | 'theirEcdhPublicKey'>[],
): readonly ContactProfile[] {
  return sessions.flatMap(({ conversationId, theirEcdhPublicKey }) => {
    const peer = peers.get(conversationId)
    const isTheirs = peer?.key === theirEcdhPublicKey && peer.name !== ''
    return isTheirs ? [{ conversationId, name: peer.name }] : []
  })
}

/** The change that stores the own profile. */
export function ownChange(own: OwnProfile): StoreChange {
  return { change: 'app_data', record: { name: OWN, value: JSON.stringify(own) } }
}

/** The change that stores a contact's profile. */
export function peerChange(conversationId: ConversationId, peer: PeerProfile): StoreChange {
  return { change: 'app_data', record: { name: PEER + conversationId, value: JSON.stringify(peer) } }
}

/** The change that stores which profile a contact was sent; none if it has to be sent again. */
export function sentChange(conversationId: ConversationId, sent: SentProfile | undefined): StoreChange {
  const name = SENT + conversationId
  if (!sent) return { change: 'app_data_removed', name }
  return { change: 'app_data', record: { name, value: JSON.stringify(sent) } }
}

/** Undefined for what a later version wrote: it is then as if nothing were stored. */
function read<S extends v.GenericSchema>(schema: S, value: string): v.InferOutput<S> | undefined {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), value)
  return parsed.success ? parsed.output : undefined
}

function put<T>(to: Map<string, T>, id: string, value: T | undefined): void {
  if (value) to.set(id, value)
}
