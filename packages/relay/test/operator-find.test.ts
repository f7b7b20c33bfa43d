// How the operator finds accounts and channels: by a part of the name, in any script, with any signs.
import { expect, test } from 'bun:test'
import { tellRelay } from '../src/operator.ts'
import { onEveryEngine } from './use-relay.ts'
import { wireAccount } from './wire.ts'

const NAMES = ['Иван', 'Émile', 'Ömer', 'ΑΘΗΝΑ', 'محمد', 'Nick_%\\name']

onEveryEngine((relay) => {
  test('a name is found as it was typed, also without letters of ASCII, and ASCII in small letters', async () => {
    const environment = { DATA_DIR: relay.process.dataDir }
    for (const name of NAMES) {
      const account = await wireAccount(relay.url, name)
      const { channel_id: id } = (await account.post('/channels', { name: `The ${name} news` })).body
      const accounts = async (text: string) =>
        (await tellRelay(environment, 'accounts.find', { text })).map(({ alias_id }) => alias_id)
      const channels = async (text: string) =>
        (await tellRelay(environment, 'channels.find', { text })).map(({ channel_id }) => channel_id)
      expect([name, await accounts(name)]).toEqual([name, [account.alias]])
      expect([name, await accounts(name.slice(1, -1))]).toEqual([name, [account.alias]])
      expect([name, await channels(`${name} n`)]).toEqual([name, [id]])
    }
    for (const [text, found] of [
      ['nick_%\\', 1],
      ['nick_%%', 0],
      ['nick__', 0],
    ] as const) {
      const accounts = await tellRelay(environment, 'accounts.find', { text })
      const channels = await tellRelay(environment, 'channels.find', { text })
      expect([text, accounts.length, channels.length]).toEqual([text, found, found])
    }
  })
})
