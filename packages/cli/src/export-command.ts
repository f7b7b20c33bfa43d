// sotto export: what the relay holds of one account, for its owner.
import type { Command } from './command.ts'
import { atRelay, environmentOf } from './relay-environment.ts'
import { writeOut } from './write-out.ts'

export const exportCommand: Command = {
  name: 'export',
  summary: 'print what the relay holds of an account, for its owner',
  help: `Usage: sotto export ALIAS [--data-dir D] >FILE

Prints, as JSON, what the relay holds of the account with this alias: names and public keys,
friends, whom it blocked and reported, with whom it has conversations, channels, posts, orders,
media by size, and the hosts of its push services. Messages are sealed: only the owner's devices can
read them. They are counted.

It asks the running relay through a socket in its data folder, which only the relay's user
can open. If no relay runs, it opens the store.

  --data-dir D     the relay's data folder (default: DATA_DIR, otherwise ./data)

If no relay runs on this machine and DATABASE_URL is set, the command uses that database.`,
  options: { 'data-dir': { type: 'string' } },
  words: ['ALIAS'],
  run: async (flags, [alias_id]) =>
    await atRelay(async (relay) => {
      const environment = environmentOf(flags)
      const account = await relay.tellRelay(environment, 'export.account', { alias_id })
      await writeOut(`${JSON.stringify(account, null, 2).slice(0, -2)},\n  "posts": [`)
      let separator = '\n'
      for (let after: number | null = 0; after !== null; ) {
        const answer: { posts: object[]; next: number | null } = await relay.tellRelay(
          environment,
          'export.posts',
          { alias_id, after },
        )
        for (const post of answer.posts) {
          await writeOut(`${separator}    ${JSON.stringify(post)}`)
          separator = ',\n'
        }
        after = answer.next
      }
      await writeOut('\n  ]\n}\n')
      return 0
    }),
}
