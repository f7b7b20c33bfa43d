// sotto export: what the relay holds of one account, at a relay that runs and in the store of one that does
// not, on each engine.
import { describe, expect, test } from 'bun:test'
import { engines } from '../../relay/test/engines.ts'
import { MediaAccount, noise } from '../../relay/test/media-wire.ts'
import { useRelayWith } from '../../relay/test/use-relay.ts'
import { befriend, call, message, wireAccount } from '../../relay/test/wire.ts'
import { expectRefused, sottoWith } from './run-sotto.ts'

const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:]{8}\.\d{3}Z$/)

describe.each([...engines])('on $name', (engine) => {
  let settings: Readonly<Record<string, string>> = {}
  const relay = useRelayWith(async () => {
    settings = await engine.environment()
    return settings
  })

  test('an account is exported with what is its own, and nothing of others but their aliases', async () => {
    const media = await MediaAccount.make(relay.url)
    const owner = media.account
    const friend = await wireAccount(relay.url, 'a friend')
    const other = await wireAccount(relay.url, 'another')
    const conv = await befriend(owner, friend)
    await owner.post('/friends/request', { to_alias_id: other.alias })
    await owner.bare('PUT', `/blocks/${other.alias}`)
    await call(owner.api('/reports'), {
      method: 'PUT',
      headers: { ...owner.authorized(), 'content-type': 'application/json' },
      body: JSON.stringify({ about: 'account', alias_id: other.alias, reason: 'spam' }),
    })
    const [toOwner, toFriend] = [await friend.connect(), await owner.connect()]
    await toFriend.untilSynced()
    toFriend.send(message(friend.alias, conv, 'one', 'm1'))
    await toFriend.next('ack')
    await toFriend.close()
    toOwner.send(message(owner.alias, conv, 'sealed', 'm2'))
    await toOwner.next('ack')
    await toOwner.close()
    const channel = (await owner.post('/channels', { name: 'News', description: 'of mine' })).body.channel_id
    const foreign = (await friend.post('/channels', { name: 'Other' })).body.channel_id
    await owner.bare('POST', `/channels/${foreign}/subscribe`)
    await friend.post(`/channels/${foreign}/posts`, { content: 'of the friend' })
    // More than one answer of the relay.
    const contents = Array.from({ length: 103 }, (_, i) => `post ${i}`)
    for (const content of contents) await owner.post(`/channels/${channel}/posts`, { content })
    const key = await media.upload(noise(5000))

    const expires_at = new Date(Date.now() + 86_400_000).toISOString()
    const upload = (of: typeof owner, device: string) =>
      of.post('/key-packages', {
        device: device.repeat(32),
        packages: ['k1', 'k2'].map((id) => ({ id, package: 'AAAA', expires_at })),
        last_resort: { id: 'k3', package: 'AAAA' },
      })
    await upload(owner, 'a')
    await upload(friend, 'b')
    for (const by of [owner, friend]) await by.bare('POST', `/conversations/${conv}/key-packages/claim`)

    const { process } = relay
    const run = (alias: string) => sottoWith(settings, 'export', alias, '--data-dir', process.dataDir)
    const exported = await run(owner.alias)
    expect(exported).toMatchObject({ code: 0, errors: '' })
    const account = JSON.parse(exported.output)
    expect(account).toEqual({
      exported_at: TIME,
      alias_id: owner.alias,
      former_alias_ids: [],
      nickname: 'wire',
      ed25519_public_key: owner.ed25519,
      x25519_public_key: owner.x25519,
      created_at: TIME,
      logged_out_at: null,
      suspension: null,
      // An embedded store does not count connections.
      last_connection:
        engine.name === 'SQLite' ? null : { number: 1, is_open: expect.any(Boolean), token_expires_at: TIME },
      friends: [
        {
          alias_id: friend.alias,
          status: 'accepted',
          is_requested_by_owner: true,
          created_at: TIME,
          changed_at: TIME,
        },
      ],
      blocked: [{ alias_id: other.alias, created_at: TIME }],
      conversations: [
        {
          conv_id: conv,
          alias_id: friend.alias,
          is_open: true,
          last_at: TIME,
          delivered_seq: 0,
          read_seq: 0,
          epoch: 0,
          group_info_bytes: 0,
        },
      ],
      waiting_messages: { count: 1, bytes: expect.any(Number) },
      sent_message_ids: { count: 1, first_at: TIME },
      notices: expect.any(Array),
      media: [{ media_key: key, state: 'stored', bytes: 5000, expires_at: TIME }],
      push_subscriptions: [],
      key_packages: [{ device: 'a'.repeat(32), uploaded_at: TIME, count: 1, has_last_resort: true }],
      key_package_ids_given_out: 1,
      key_package_claims: [{ alias_id: friend.alias, day: TIME, claims: 1 }],
      channels: [
        {
          channel_id: channel,
          name: 'News',
          description: 'of mine',
          is_public: true,
          sale_price: null,
          closed_for: null,
          created_at: TIME,
        },
      ],
      subscriptions: [{ channel_id: foreign, created_at: TIME }],
      channel_seats_bought: 0,
      orders: [],
      invites: [],
      reports: [
        {
          about: 'account',
          object: other.alias,
          reason: 'spam',
          content: null,
          reported_at: TIME,
          done_at: null,
        },
      ],
      posts: contents.map((content) => ({
        channel_id: channel,
        post_id: expect.any(String),
        type: 'text',
        content,
        created_at: TIME,
      })),
    })
    expect(exported.output).not.toContain('of the friend')
    expect(exported.output).not.toContain(owner.token)
    expectRefused(await run('nobody_here'), 'no account has the alias nobody_here')

    await process.kill('SIGTERM')
    const stopped = JSON.parse((await run(owner.alias)).output)
    // The end of the connection may not have been noted when the relay was asked. It has been at its stop.
    const { last_connection: last } = account
    const connection = last && { ...last, is_open: false }
    expect({ ...stopped, exported_at: TIME }).toEqual({ ...account, last_connection: connection })
    await process.start()
  })
})
