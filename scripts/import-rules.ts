// Who may import whom, and where the clock, chance, the environment and the console may be touched.
import { builtinModules } from 'node:module'
import { posix } from 'node:path'
import type { Import } from './source-scanner.ts'

const sottoPackages: Record<string, string> = {
  '@sotto/protocol': 'protocol',
  '@sotto/crypto': 'crypto',
  '@sotto/client': 'client',
  '@sotto/relay': 'relay',
  sotto: 'cli',
}

const mayImport: Record<string, string[]> = {
  protocol: [],
  crypto: [],
  client: ['protocol', 'crypto'],
  relay: ['protocol', 'crypto'],
  cli: ['client', 'crypto', 'protocol', 'relay'],
}

// These run in browsers as well.
const portablePackages = ['protocol', 'crypto', 'client']
const mayUseBuiltins = [
  'packages/client/src/media/into-file.ts',
  'packages/client/src/stores/file-log.ts',
  'packages/client/src/stores/file-store.ts',
  'packages/client/src/stores/folder-lock.ts',
]

const features = [
  ...['accounts', 'friends', 'messages'],
  ...['calls', 'channels', 'vanity', 'payments', 'media', 'push'],
]
const featureBlind = ['listener', 'gateway']
const interfaceFiles: Record<string, string> = { storage: 'storage/storage.ts', cluster: 'cluster/bus.ts' }
const relaySource = 'packages/relay/src/'
const onlyImportedAtTheTop: Record<string, string[]> = {
  'config.ts': ['main.ts', 'relay.ts', 'operator.ts'],
  'relay.ts': ['main.ts'],
  'operator.ts': ['main.ts'],
}

export function isTest(file: string): boolean {
  return /\.test\.ts$|[.-]contract\.ts$|\/test-support\.ts$|^packages\/[^/]+\/test\//.test(file)
}

/** @returns the rule broken, or undefined. `target` is the file a relative import leads to. */
export function checkImport(file: string, found: Import, target: string | undefined): string | undefined {
  const broken = checkPackages(file, found) ?? checkCrossing(file, target) ?? checkBuiltins(file, found)
  return broken ?? (target === undefined ? undefined : checkRelayRooms(file, found, target))
}

function checkPackages(file: string, { specifier }: Import): string | undefined {
  const target = sottoPackages[specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')]
  const own = packageOf(file)
  if (target === undefined || own === undefined || isTest(file)) return undefined
  const allowed = mayImport[own] ?? []
  if (allowed.includes(target)) return undefined
  return `${own} may import ${allowed.length === 0 ? 'no other package of ours' : `only ${allowed.join(', ')}`}`
}

function checkCrossing(file: string, target: string | undefined): string | undefined {
  if (target === undefined || packageOf(target) === packageOf(file)) return undefined
  // What tests share, the test vectors and the scripts have no package name to be imported by.
  const isShared = packageOf(target) === undefined || isTest(target)
  const isSource = !isTest(file) && !file.includes('/bin/')
  if (isShared && !isSource) return undefined
  return 'a relative import stays within its package'
}

function checkBuiltins(file: string, { specifier }: Import): string | undefined {
  const own = packageOf(file)
  if (own === undefined || !portablePackages.includes(own)) return undefined
  if (isTest(file) || mayUseBuiltins.includes(file)) return undefined
  const isBuiltin = /^(node:|bun(:|$))/.test(specifier) || builtinModules.includes(specifier)
  return isBuiltin ? `${own} runs in browsers: nothing of Bun or Node` : undefined
}

function checkRelayRooms(file: string, found: Import, target: string): string | undefined {
  if (!file.startsWith(relaySource) || !target.startsWith(relaySource) || isTest(file)) return undefined
  const from = file.slice(relaySource.length)
  const to = target.slice(relaySource.length)
  const room = roomOf(from)
  const other = roomOf(to)

  const importers = onlyImportedAtTheTop[to]
  if (importers !== undefined && !found.isTypeOnly && !importers.includes(from)) {
    return `only ${importers.join(', ')} and tests import ${to}, others no more than its types`
  }
  // main.ts and relay.ts put the parts together, so they see all of them.
  if (room === undefined || other === undefined || room === other) return undefined

  if (featureBlind.includes(room) && features.includes(other)) {
    return `${room} knows no feature: features register with it`
  }
  if (features.includes(other) && to !== `${other}/${other}.ts`) {
    return `${other} is known to others only by ${other}/${other}.ts`
  }
  const interfaceFile = interfaceFiles[other]
  if (interfaceFile !== undefined && to !== interfaceFile)
    return `${other} is known to others only by ${interfaceFile}`
  return undefined
}

interface ReservedGlobal {
  pattern: RegExp
  rule: string
  allowed: string[]
}

const reservedGlobals: ReservedGlobal[] = [
  {
    pattern: /\b(?:process|Bun|import\.meta)\s*\.\s*env\b/g,
    rule: 'only config.ts and the command line read the environment',
    allowed: ['packages/relay/src/config.ts', 'packages/cli/src/'],
  },
  {
    pattern: /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(?:\(\s*\)|(?![\s(\w$]))/g,
    rule: 'time is passed in',
    // The clocks themselves, and a lock file's age, which the file system's time decides.
    allowed: [
      'packages/relay/src/operations/clock.ts',
      'packages/client/src/options.ts',
      'packages/client/src/stores/folder-lock.ts',
      'packages/cli/src/',
    ],
  },
  {
    pattern: /\bMath\s*\.\s*random\b/g,
    rule: 'randomness is passed in',
    allowed: ['packages/cli/src/'],
  },
  {
    pattern: /(?<![\w$.])console\s*\./g,
    rule: 'only the command line writes to the console',
    allowed: ['packages/cli/src/'],
  },
]

export function findReservedGlobals(
  file: string,
  code: string,
): { offset: number; used: string; rule: string }[] {
  if (!/^packages\/[^/]+\/src\//.test(file) || isTest(file)) return []
  return reservedGlobals
    .filter(({ allowed }) => !allowed.some((prefix) => file.startsWith(prefix)))
    .flatMap(({ pattern, rule }) =>
      [...code.matchAll(pattern)].map((match) => ({ offset: match.index, used: match[0], rule })),
    )
}

function packageOf(file: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(file)?.[1]
}

function roomOf(pathInRelay: string): string | undefined {
  const folder = posix.dirname(pathInRelay)
  return folder === '.' ? undefined : folder.split('/')[0]
}
