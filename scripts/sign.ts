// `npm run sign -- --key FILE [FOLDER]`: signs the hashes of what `npm run build -- relay` built in `dist`,
// or in another folder. FILE is a private Ed25519 key (PEM), which is never in the repository.
import { parseArgs } from 'node:util'
import { DIST } from './relay-build/build.ts'
import { signRelease } from './relay-build/sign.ts'

try {
  const options = { key: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  if (values.key === undefined) throw new Error('--key is missing; it names the file of the private key')
  const folder = positionals[0] ?? DIST
  await signRelease(folder, values.key)
  process.stdout.write(`signed ${folder}/SHA256SUMS\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
