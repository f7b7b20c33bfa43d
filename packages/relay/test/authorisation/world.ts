// What the owner has, and what another account must neither learn nor change: the same for every endpoint and
// every frame.
import { tellRelay } from '../../src/operator.ts'
import { noise } from '../media-wire.ts'
import { subscriber } from '../push-subscriber.ts'
import type { UsedRelay } from '../use-relay.ts'
import { befriend, call, message, post, type WireAccount, type WireSocket, wireAccount } from '../wire.ts'
import {
  type BadLogin,
  badLogins,
  type Caller,
  type Credentials,
  callerOf,
  deadTokens,
  MISSING_FRIENDSHIP,
  RELATIONS,
  type Relation,
} from './callers.ts'
import { openStore, type StoreContents, type StoreReader } from './store-contents.ts'

/** The names of things of the owner, as requests and frames give them. */
export interface Things {
  /** The owner's alias and uuid. */
  readonly alias: string
  readonly uuid: string
  /** A friend of the owner, and their conversation and friendship. */
  readonly friendAlias: string
  readonly conv: string
  readonly friendship: string
  /** A message of that friend that the owner has not confirmed: its id, and its `seq`. */
  readonly messageId: string
  readonly seq: string
  /** A channel that is not public, its name, and a post in it. */
  readonly channel: string
  readonly channelName: string
  readonly post: string
  /** A pending order of an id, and the token of its payment page. */
  readonly order: string
  readonly orderedAlias: string
  readonly pageToken: string
  /** A stored blob; an upload in parts, its future key and the etag of its one part; a link to a blob. */
  readonly blob: string
  readonly upload: string
  readonly uploadKey: string
  readonly etag: string
  readonly link: string
  /** The endpoint of the owner's browser, and the registration token of its phone. */
  readonly endpoint: string
  readonly device: string
  /** The id of an invite that the owner made. */
  readonly invite: string
  /** A device of the owner that has key packages; the id of one of them, and the package. */
  readonly keyDevice: string
  readonly keyPackageId: string
  readonly keyPackage: string
  /** A login challenge for the owner. */
  readonly challenge: string
}

/** Names of the right form that belong to nothing. */
export const MISSING: Things = {
  ...{ alias: 'u00000000', uuid: '00000000-0000-4000-8000-000000000000', friendAlias: 'u00000001' },
  ...{ conv: '00000000-0000-4000-8000-000000000001', friendship: MISSING_FRIENDSHIP },
  ...{ messageId: 'missing', seq: '1' },
  ...{
    channel: `ch_${'x'.repeat(22)}`,
    channelName: 'missing',
    post: `p_${'0'.repeat(12)}${'x'.repeat(16)}`,
  },
  ...{ order: `ord_${'x'.repeat(24)}`, orderedAlias: 'missing_id', pageToken: 'x'.repeat(22) },
  ...{ blob: `m_${'x'.repeat(22)}`, upload: `up_${'x'.repeat(22)}`, uploadKey: `m_${'y'.repeat(22)}` },
  ...{ etag: 'x', link: 'x'.repeat(100), endpoint: 'https://localhost:1025/missing', device: 'missing' },
  ...{ challenge: 'missing', invite: '0000000000' },
  ...{ keyDevice: '0'.repeat(32), keyPackageId: 'missing', keyPackage: 'AAAA' },
}

/** What nobody but the owner learns, unless a row says so: the content that the things name. */
const CONTENTS = {
  postText: 'only for those who know the channel',
  blobText: 'only for those who know the key',
  payload: Buffer.from('only for the recipient').toString('base64'),
}
/** What accounts learn of the owner that are related to it, or that ask for its alias. */
const PROFILE = { nickname: 'owner of it all' }

/** The texts that must not reach others, by name. */
export type Secrets = Readonly<Record<string, string>>

let names = 0
/** An id for sale that nothing else here uses, and that no other one begins with. */
export function freshAlias(): string {
  names += 1
  return `harbour_${names}_bay`
}

/** The owner, its things, and one caller of each kind, at one relay. */
export class World {
  readonly relay: UsedRelay
  readonly owner: WireAccount
  /** A friend of the owner: the other side of `things.conv`. */
  readonly friend: WireAccount
  /** One account of each relation. */
  readonly callers: Readonly<Record<Relation, Caller>>
  readonly badLogins: Readonly<Record<BadLogin, Credentials>>
  readonly store: StoreReader
  readonly keys: { readonly p256dh: string; readonly auth: string }
  readonly #now: number
  #things: Things = MISSING

  private constructor(
    parts: Pick<World, 'relay' | 'owner' | 'friend' | 'callers' | 'badLogins' | 'store' | 'keys'> & {
      now: number
    },
  ) {
    this.relay = parts.relay
    this.owner = parts.owner
    this.friend = parts.friend
    this.callers = parts.callers
    this.badLogins = parts.badLogins
    this.store = parts.store
    this.keys = parts.keys
    this.#now = parts.now
  }

  /**
   * @param databaseUrl the relay's PostgreSQL; undefined if it is on SQLite
   * @param otherRelay the address of another relay
   */
  static async make(relay: UsedRelay, databaseUrl: string | undefined, otherRelay: string): Promise<World> {
    const owner = await wireAccount(relay.url, PROFILE.nickname)
    let now = 0
    const dead = await deadTokens(owner, async (ms) => {
      now = await relay.process.letPass(ms)
    })
    const others = RELATIONS.filter((relation) => relation !== 'owner')
    const made = await Promise.all(others.map((relation) => callerOf(relation, owner)))
    const own: Caller = {
      relation: 'owner',
      account: owner,
      friendship: MISSING.friendship,
      conv: MISSING.conv,
    }
    const callers = Object.fromEntries([own, ...made].map((caller) => [caller.relation, caller]))
    const otherRelays = (await wireAccount(otherRelay)).token
    const tokens = { ...dead, valid: owner.token, others: (await callerOf('friend', owner)).account.token }
    const world = new World({
      ...{ relay, owner, now, callers: callers as Record<Relation, Caller> },
      friend: await wireAccount(relay.url, 'confidant'),
      badLogins: badLogins({ ...tokens, otherRelay: otherRelays }),
      store: await openStore({ dataDir: relay.process.dataDir, databaseUrl }),
      keys: (await subscriber('https://localhost:1025/')).body.keys,
    })
    await world.#addThings()
    return world
  }

  async #addThings(): Promise<void> {
    const { owner, friend } = this
    const conv = await befriend(friend, owner)
    const [{ friendship_id }] = (await friend.get('/friends')).body
    const { socket } = await friend.online()
    const sent = await this.newMessage(socket, conv)
    await socket.close()
    const endpoint = `https://localhost:1025/${crypto.randomUUID()}`
    await owner.post('/push/subscribe', { endpoint, keys: this.keys })
    const device = `device:${crypto.randomUUID()}`
    await owner.post('/push/register', { token: device, platform: 'android' })
    this.#things = {
      ...MISSING,
      ...(await this.newChannel()),
      ...(await this.newOrder()),
      ...(await this.newUpload()),
      ...(await this.newBlob()),
      ...(await this.newInvite()),
      ...(await this.newKeyPackage()),
      ...sent,
      ...{ conv, friendship: String(friendship_id), endpoint, device },
    }
  }

  /** The things that last as long as the world. */
  get things(): Things {
    const { owner, friend } = this
    return { ...this.#things, alias: owner.alias, uuid: owner.uuid, friendAlias: friend.alias }
  }

  /**
   * Texts that must not reach a caller. Numbers are too short to be found in an answer.
   * @param profile also what related accounts may know
   */
  secretsOf(things: Things, profile: boolean): Secrets {
    const { alias, friendship: _friendship, seq: _seq, ...named } = things
    const missing = new Set<string>(Object.values(MISSING))
    const known = Object.entries(named).filter(([, value]) => !missing.has(value))
    const keys = { ed25519: this.owner.ed25519, x25519: this.owner.x25519 }
    return { ...Object.fromEntries(known), ...CONTENTS, ...(profile ? { ...PROFILE, ...keys, alias } : {}) }
  }

  /** Everything stored. */
  contents(): Promise<StoreContents> {
    return this.store.read(this.#now)
  }

  /** What the owner sees of all that is its own. */
  async view(): Promise<unknown> {
    const { owner, things } = this
    const paths = [
      ...['/me', '/friends', '/blocks', '/conversations/active', '/channels/mine', '/vanity/orders'],
      ...[`/channels/${things.channel}/posts`, '/storage/estimate', `/media/upload-parts/${things.upload}`],
      ...[`/media/download?key=${things.blob}`, '/invites', '/key-packages'],
    ]
    const answers = await Promise.all(paths.map((path) => owner.get(path)))
    // Other accounts may change their own names.
    return answers.map(({ status, text }) => [status, text.replaceAll(/"nickname":"[^"]*"/g, '')])
  }

  /** A message to the owner, on a socket of its friend. */
  async newMessage(socket: WireSocket, conv = this.things.conv): Promise<Pick<Things, 'messageId' | 'seq'>> {
    const messageId = crypto.randomUUID()
    socket.send({ ...message(this.owner.alias, conv, '', messageId), payload: CONTENTS.payload })
    return { messageId, seq: String((await socket.next('ack')).seq) }
  }

  /** A channel of an account that is not public, with a post. */
  async newChannel(
    account = this.owner,
    more: object = {},
  ): Promise<Pick<Things, 'channel' | 'channelName' | 'post'>> {
    const channelName = `Lighthouse${crypto.randomUUID().slice(0, 8)}`
    const { body } = await account.post('/channels', { name: channelName, is_public: false, ...more })
    const posted = await account.post(`/channels/${body.channel_id}/posts`, { content: CONTENTS.postText })
    return { channel: body.channel_id, channelName, post: posted.body.post_id }
  }

  /** An order of an id for an account. */
  async newOrder(account = this.owner): Promise<Pick<Things, 'order' | 'orderedAlias' | 'pageToken'>> {
    const orderedAlias = freshAlias()
    const { body } = await account.post('/vanity/purchase', { alias_id: orderedAlias })
    return { order: body.order_id, orderedAlias, pageToken: String(body.payment_url).split('/pay/')[1] ?? '' }
  }

  /** An order of an id that no account has made. */
  async newReservation(): Promise<Pick<Things, 'order' | 'orderedAlias'>> {
    const orderedAlias = freshAlias()
    const { body } = await post(this.owner.api('/vanity/reserve'), { alias_id: orderedAlias })
    return { order: body.order_id, orderedAlias }
  }

  /** Confirms an order, as the operator does who has seen the money. */
  async confirm(order: string): Promise<void> {
    const env = { DATA_DIR: this.relay.process.dataDir }
    await tellRelay(env, 'orders.confirm', { order_id: order, who: 'test', why: 'paid' })
  }

  /** Makes the id of a paid order the owner's alias. */
  async bind(order: string): Promise<void> {
    await this.owner.post('/vanity/bind', { order_id: order })
    await this.readAlias()
  }

  /** Reads the owner's alias, after a request may have changed it. */
  async readAlias(): Promise<void> {
    this.owner.alias = (await this.owner.get('/me')).body.alias_id
  }

  /** An upload of an account with one part. */
  async newUpload(account = this.owner): Promise<Pick<Things, 'upload' | 'uploadKey' | 'etag'>> {
    const { upload_id, media_key } = (await account.post('/media/upload-parts/init', {})).body
    const { body } = await call(
      account.api(`/media/upload-parts/${upload_id}/chunk?mediaKey=${media_key}&partNumber=1`),
      { method: 'POST', headers: account.authorized(), body: noise(100) },
    )
    return { upload: upload_id, uploadKey: media_key, etag: body.etag }
  }

  /** A link of the owner that writes a blob once. */
  async newWriteLink(): Promise<Pick<Things, 'link' | 'blob'>> {
    const { body } = await this.owner.post('/media/upload-url', { size: CONTENTS.blobText.length })
    return { link: linkOf(body.upload_url), blob: body.media_key }
  }

  /** A stored blob of the owner, and the link that wrote it. */
  async newBlob(): Promise<Pick<Things, 'link' | 'blob'>> {
    const made = await this.newWriteLink()
    await call(this.owner.api(`/media/links/${made.link}`), { method: 'PUT', body: CONTENTS.blobText })
    return made
  }

  /** A stored blob of the owner, and a link that reads it. */
  async newReadLink(): Promise<Pick<Things, 'link' | 'blob'>> {
    const { blob } = await this.newBlob()
    const { body } = await this.owner.get(`/media/download-url?key=${blob}`)
    return { blob, link: linkOf(body.download_url) }
  }

  /** An invite of an account. */
  async newInvite(account = this.owner): Promise<Pick<Things, 'invite'>> {
    return { invite: (await account.post('/invites', {})).body.invite_id }
  }

  /** A device of an account, with one key package. It replaces the account's oldest one. */
  async newKeyPackage(
    account = this.owner,
  ): Promise<Pick<Things, 'keyDevice' | 'keyPackageId' | 'keyPackage'>> {
    const things = { keyDevice: randomHex(16), keyPackageId: randomHex(32), keyPackage: noiseText() }
    const uploaded = { id: things.keyPackageId, package: things.keyPackage, expires_at: this.#tomorrow }
    await account.post('/key-packages', { device: things.keyDevice, packages: [uploaded] })
    return things
  }

  /** Of the relay. */
  get #tomorrow(): string {
    return new Date(this.#now + 86_400_000).toISOString()
  }

  /** A login challenge for an account. */
  async newChallenge(account = this.owner): Promise<Pick<Things, 'challenge'>> {
    const { body } = await post(account.api('/auth/challenge'), { user_uuid: account.uuid })
    return { challenge: body.challenge }
  }

  /** The bytes of the owner's blobs. */
  get blobBytes(): string {
    return CONTENTS.blobText
  }
}

function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex')
}

/** Bytes that nothing else has, in Base64. */
function noiseText(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(48))).toString('base64')
}

function linkOf(url: string): string {
  return url.split('/media/links/')[1] ?? ''
}
