// The rules of the import check: which packages and rooms may import which, which files may use the clock,
// randomness and the environment, and how a test must not wait.
import { builtinModules } from 'node:module'
import type { GlobalUse, Import } from './source-reader.ts'

const sottoPackages: Record<string, string> = {
  '@sotto/protocol': 'protocol',
  '@sotto/crypto': 'crypto',
  '@sotto/mls': 'mls',
  '@sotto/client': 'client',
  '@sotto/relay': 'relay',
  '@sotto/web': 'web',
  sotto: 'cli',
}

const mayImport: Record<string, string[]> = {
  protocol: [],
  crypto: [],
  mls: ['crypto'],
  client: ['protocol', 'crypto', 'mls'],
  relay: ['protocol', 'crypto'],
  cli: ['client', 'crypto', 'protocol', 'relay'],
  web: ['client'],
}

// These run in browsers as well.
const portablePackages = ['protocol', 'crypto', 'mls', 'client', 'web']
const mayUseBuiltins = [
  'packages/client/src/media/into-file.ts',
  'packages/client/src/stores/file-log.ts',
  'packages/client/src/stores/file-slots.ts',
  'packages/client/src/stores/file-store.ts',
  'packages/client/src/stores/folder-lock.ts',
  'packages/client/src/stores/sync-folder.ts',
]

/** The rooms of a package: the folders of its source. Each file outside these folders is a room, too. */
interface Rooms {
  /**
   * From the bottom to the top. A room imports only rooms of lower floors: none above, and none on its own
   * floor.
   */
  floors: string[][]
  /** The one file of a room that others may import. */
  publicFiles: Record<string, string>
  /** Files that connect the rooms and may import any file of a room. */
  composing: string[]
}

const roomsOf: Record<string, Rooms> = {
  client: {
    floors: [
      ['client-error.ts'],
      ['tab-method.ts'],
      ['stores', 'secrecy'],
      ['platform', 'client-types.ts'],
      ['events'],
      ['wire'],
      ['account', 'contacts'],
      ['messages'],
      ['forward-secrecy'],
      ['engine.ts'],
      ['device.ts'],
      ['module-part.ts'],
      ['module-access.ts'],
      [
        'app-data',
        'archive',
        'channels',
        'edits',
        'invites',
        'media',
        'organizer',
        'profiles',
        'push',
        'reactions',
        'replies',
        'search',
        'reports',
        'secrecy-choices',
        'shop',
        'unsent',
        'views',
      ],
      ['names.ts'],
      ['client.ts'],
      ['calls', 'tabs'],
      ['browser.ts'],
    ],
    publicFiles: {
      ...ownNames('stores', 'secrecy', 'platform', 'events', 'wire', 'account', 'contacts', 'messages'),
      ...ownNames(
        'app-data',
        'archive',
        'channels',
        'edits',
        'invites',
        'media',
        'organizer',
        'profiles',
        'push',
        'reactions',
        'replies',
        'search',
        'reports',
        'secrecy-choices',
        'shop',
        'unsent',
        'views',
      ),
      ...ownNames('calls', 'tabs'),
    },
    composing: ['forward-secrecy'],
  },
  web: {
    floors: [
      ['types.d.ts', 'styles', 'texts', 'service-worker'],
      ['session'],
      ['parts'],
      ['screens', 'admin'],
      ['app.tsx'],
      ['main.tsx'],
    ],
    publicFiles: {},
    composing: [],
  },
  relay: {
    floors: [
      ['version.ts', 'storage'],
      ['operations'],
      ['cluster'],
      ['gateway', 'certificates'],
      ['listener'],
      ['admission'],
      ['admin', 'accounts', 'messages', 'succession'],
      ['friends', 'key-packages', 'payments', 'media', 'push', 'workers'],
      ['calls', 'channels', 'vanity'],
      ['moderation'],
      ['config.ts', 'goods.ts', 'account-deletion.ts', 'maintenance-tasks.ts'],
      ['status.ts', 'account-export.ts'],
      ['gauges.ts', 'operator-commands.ts'],
      ['start-error.ts', 'backup', 'store-copy', 'relay.ts'],
      ['operator.ts', 'doctor'],
      ['operator-backups.ts', 'operator-copy.ts'],
      ['operator-upgrade.ts', 'serve-workers.ts'],
      ['main.ts'],
    ],
    publicFiles: {
      ...ownNames(
        'admission',
        'accounts',
        'friends',
        'key-packages',
        'messages',
        'calls',
        'channels',
        'vanity',
        'moderation',
      ),
      ...ownNames('succession', 'workers', 'payments', 'media', 'push', 'storage', 'certificates'),
      cluster: 'cluster/bus.ts',
    },
    composing: [
      ...[
        'config.ts',
        'gauges.ts',
        'goods.ts',
        'account-deletion.ts',
        'maintenance-tasks.ts',
        'start-error.ts',
      ],
      ...[
        'status.ts',
        'operator-commands.ts',
        'backup',
        'operator.ts',
        'operator-backups.ts',
        'operator-copy.ts',
        'store-copy',
        'operator-upgrade.ts',
        'doctor',
        'relay.ts',
        'serve-workers.ts',
        'main.ts',
      ],
    ],
  },
}

function ownNames(...rooms: string[]): Record<string, string> {
  return Object.fromEntries(rooms.map((room) => [room, `${room}/${room}.ts`]))
}

export function isTest(file: string): boolean {
  return /\.test\.tsx?$|^packages\/[^/]+\/test\//.test(file)
}

/**
 * @returns the broken rule, or undefined. `target` is the file of this repository that is imported, if any.
 */
export function checkImport(file: string, found: Import, target: string | undefined): string | undefined {
  const own = packageOf(file)
  if (own === undefined) return undefined
  const crossed = target === undefined ? undefined : checkCrossing(file, target)
  const broken = crossed ?? checkPackages(own, file, found) ?? checkBuiltins(own, file, found)
  return broken ?? (target === undefined ? undefined : checkRooms(own, file, target))
}

function checkPackages(own: string, file: string, { specifier }: Import): string | undefined {
  const target = sottoPackages[specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')]
  if (target === undefined || isTest(file)) return undefined
  const allowed = mayImport[own] ?? []
  if (allowed.includes(target)) return undefined
  return `${own} may import ${allowed.length === 0 ? 'no other package of ours' : `only ${allowed.join(', ')}`}`
}

function checkCrossing(file: string, target: string): string | undefined {
  if (packageOf(target) === packageOf(file)) return undefined
  // The helpers of tests, the test vectors and the scripts have no package name, so their imports are
  // relative.
  const isShared = packageOf(target) === undefined || isTest(target)
  const isSource = !isTest(file) && !file.includes('/bin/')
  if (isShared && !isSource) return undefined
  return 'a relative import stays within its package'
}

function checkBuiltins(own: string, file: string, { specifier }: Import): string | undefined {
  if (!portablePackages.includes(own) || isTest(file) || mayUseBuiltins.includes(file)) return undefined
  const isBuiltin = /^(node:|bun(:|$))/.test(specifier) || builtinModules.includes(specifier)
  return isBuiltin ? `${own} runs in browsers: nothing of Bun or Node` : undefined
}

function checkRooms(own: string, file: string, target: string): string | undefined {
  const rooms = roomsOf[own]
  const source = `packages/${own}/src/`
  if (rooms === undefined || isTest(file) || !file.startsWith(source) || !target.startsWith(source)) {
    return undefined
  }
  const room = roomOf(file, source)
  const other = roomOf(target, source)
  if (room === other) return undefined

  const floorOf = (name: string) => rooms.floors.findIndex((floor) => floor.includes(name))
  const homeless = [room, other].find((name) => floorOf(name) === -1)
  if (homeless !== undefined) return `${homeless} has no floor in scripts/import-rules.ts`
  if (floorOf(other) === floorOf(room)) return `${room} and ${other} share a floor: neither imports the other`
  if (floorOf(other) > floorOf(room)) return `an arrow up: ${other} stands above ${room}`

  const publicFile = rooms.publicFiles[other]
  if (rooms.composing.includes(room) || publicFile === undefined || target === source + publicFile)
    return undefined
  return `${other} is known to others only by ${publicFile}`
}

interface ReservedGlobal {
  names: string[]
  rule: string
  allowed: string[]
}

// The console is reserved by Biome's noConsole.
const reservedGlobals: ReservedGlobal[] = [
  {
    names: ['process.env', 'Bun.env', 'import.meta.env'],
    rule: 'only config.ts and the command line read the environment',
    allowed: ['packages/relay/src/config.ts', 'packages/cli/src/'],
  },
  {
    names: ['Date.now', 'new Date()'],
    rule: 'time is passed in',
    // The clocks themselves, and the age of a lock file, which is compared with the file system's time.
    allowed: [
      'packages/relay/src/operations/clock.ts',
      'packages/client/src/platform/clock.ts',
      'packages/client/src/stores/folder-lock.ts',
      'packages/cli/src/',
      'packages/web/src/session/clock.ts',
    ],
  },
  { names: ['Math.random'], rule: 'randomness is passed in', allowed: ['packages/cli/src/'] },
]

// Bun's expect runs the event loop inside itself. A setImmediate that is due in the same tick then never
// runs, and a promise that depends on it never settles.
const hangingWaits = [
  ...['expect().rejects', 'expect().resolves'],
  ...['expect().not.rejects', 'expect().not.resolves'],
]

/** @returns the broken rule, or undefined. */
export function checkUse(file: string, { name }: GlobalUse): string | undefined {
  if (hangingWaits.includes(name)) {
    return 'it can hang; await the promise, or failureOf of packages/protocol/test/failure-of.ts'
  }
  if (!/^packages\/[^/]+\/src\//.test(file) || isTest(file)) return undefined
  const broken = reservedGlobals.find(({ names, allowed }) => {
    return names.includes(name) && !allowed.some((prefix) => file.startsWith(prefix))
  })
  return broken?.rule
}

function packageOf(file: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(file)?.[1]
}

function roomOf(file: string, source: string): string {
  return file.slice(source.length).split('/', 1).join('')
}
