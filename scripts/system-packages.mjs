// The programs that the tests need and npm cannot install: how each is found, and which Debian package
// contains it.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findChromium } from './find-chromium.mjs'
import { findCoturn } from './find-coturn.mjs'
import { findFirefox, findWebKit } from './find-engines.mjs'
import { findNats } from './find-nats.mjs'
import { findPostgres, oldestPostgres } from './find-postgres.mjs'
import { findSwift } from './find-swift.mjs'

const NOTO_FOLDER = '/usr/share/fonts/truetype/noto'
const NOTO = ['NotoSans-Regular.ttf', 'NotoSansArabic-Regular.ttf', 'NotoColorEmoji.ttf'].map(
  (file) => `${NOTO_FOLDER}/${file}`,
)

const systemPackages = [
  {
    name: `PostgreSQL ${oldestPostgres} or later (the server: initdb and postgres)`,
    isPresent: () => findPostgres() !== undefined,
    hint: 'If it is installed somewhere else, set PG_BIN to the folder that holds initdb and postgres.',
    debian: 'postgresql',
    around: withoutDefaultCluster,
  },
  {
    name: 'nats-server',
    isPresent: () => findNats() !== undefined,
    hint: 'If it is installed somewhere else, set NATS_BIN to the folder that holds it.',
    debian: 'nats-server',
    around: withoutService,
  },
  {
    name: 'Chromium',
    isPresent: () => findChromium() !== undefined,
    hint: 'If it is installed somewhere else, set CHROMIUM to the program.',
    debian: 'chromium',
  },
  {
    name: 'Firefox',
    isPresent: () => findFirefox() !== undefined,
    hint: 'If it is installed somewhere else, set FIREFOX to the program.',
    debian: 'firefox-esr',
  },
  {
    name: "WebKitGTK's MiniBrowser with its driver, and Xvfb",
    isPresent: () => findWebKit() !== undefined,
    hint: 'If they are installed somewhere else, link WebKitWebDriver and Xvfb to /usr/bin.',
    debian: 'webkit2gtk-driver xvfb',
  },
  {
    name: 'coturn (turnserver and turnutils_uclient)',
    isPresent: () => findCoturn() !== undefined,
    hint: 'If it is installed somewhere else, set COTURN_BIN to the folder that holds both programs.',
    debian: 'coturn',
    around: withoutService,
  },
  {
    name: 'OpenStack Swift (an S3-compatible store)',
    isPresent: () => findSwift() !== undefined,
    hint: 'If it is installed somewhere else, set SWIFT_BIN to the folder that holds swift-proxy-server.',
    debian: 'swift-proxy swift-account swift-container swift-object',
    around: withoutService,
  },
  {
    name: 'openssl (which reads what the relay asks an ACME server to sign)',
    isPresent: () => existsSync('/usr/bin/openssl'),
    hint: 'If it is installed somewhere else, link it to /usr/bin.',
    debian: 'openssl',
  },
  {
    name: 'age and age-keygen (which read what the relay encrypts)',
    isPresent: () => ['age', 'age-keygen'].every((name) => existsSync(`/usr/bin/${name}`)),
    hint: 'If they are installed somewhere else, link them to /usr/bin.',
    debian: 'age',
  },
  {
    name: 'pebble (an ACME server for tests) and pebble-challtestsrv',
    isPresent: () => ['pebble', 'pebble-challtestsrv'].every((name) => existsSync(`/usr/bin/${name}`)),
    hint: 'If they are installed somewhere else, link them to /usr/bin.',
    debian: 'pebble',
  },
  {
    name: 'Prometheus and promtool (they read the metrics)',
    isPresent: () =>
      [
        ['prometheus', '--version'],
        ['promtool', '--version'],
      ].every(succeeds),
    hint: 'If they are installed somewhere else, put their folder on the PATH.',
    debian: 'prometheus',
    around: withoutService,
  },
  {
    name: 'systemd-analyze (it rates the unit; systemd itself does not run)',
    isPresent: () => succeeds(['systemd-analyze', '--version']),
    hint: 'If it is installed somewhere else, put its folder on the PATH.',
    debian: 'systemd',
  },
  {
    name: 'spin and gcc (they search the models of crypto_v 3)',
    isPresent: () => ['spin', 'gcc'].every((name) => existsSync(`/usr/bin/${name}`)),
    hint: 'If they are installed somewhere else, link them to /usr/bin.',
    debian: 'spin gcc libc6-dev',
  },
  {
    name: 'Noto fonts, also for emoji (the pictures of the app are compared)',
    isPresent: () => NOTO.every((file) => existsSync(file)),
    hint: `If they are installed somewhere else, link them to ${NOTO_FOLDER}.`,
    debian: 'fonts-noto-core fonts-noto-color-emoji',
  },
]

// Installs the missing programs if it can. Returns text for the user about the programs that are still
// missing, or undefined if none is.
export function ensureSystemPackages() {
  const missing = findMissing()
  if (missing.length === 0) return undefined

  const runAsRoot = findWayToRoot()
  const problem =
    runAsRoot === undefined ? 'it may not install packages here' : installAll(missing, runAsRoot)
  const stillMissing = findMissing()
  return stillMissing.length === 0 ? undefined : describe(stillMissing, problem)
}

function findMissing() {
  return systemPackages.filter((needed) => !needed.isPresent())
}

// The words in front of a command that needs root: none, or `sudo`. Undefined without apt-get, and for a user
// who cannot become root.
function findWayToRoot() {
  if (!succeeds(['apt-get', '--version'])) return undefined
  if (process.getuid?.() === 0) return []
  return succeeds(['sudo', '-n', 'true']) ? ['sudo', '-n'] : undefined
}

function installAll(missing, runAsRoot) {
  const names = missing.flatMap((needed) => needed.debian.split(' '))
  process.stderr.write(`Installing from Debian's packages: ${names.join(', ')}…\n`)
  let install = () => aptInstall(names, runAsRoot)
  for (const { around } of missing) {
    const inner = install
    if (around !== undefined) install = () => around(runAsRoot, inner)
  }
  return install()
}

// Returns why the installation failed, or undefined.
function aptInstall(names, runAsRoot) {
  // The package lists of a new machine are missing or old, and old ones bring old browsers. Without a network
  // it fails, and the packages may be there nevertheless.
  const update = apt(['update'], runAsRoot)
  const install = apt(['install', '--yes', '--no-install-recommends', ...names], runAsRoot)
  return install.status === 0 ? undefined : `apt-get failed:\n${update.stderr}${install.stderr}`.trim()
}

// Another apt-get may be running, because machines update themselves.
const waitForOthers = ['-o', 'DPkg::Lock::Timeout=120']

function apt(args, runAsRoot) {
  const [command, ...rest] = [
    ...runAsRoot,
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'apt-get',
    '-qq',
    ...waitForOthers,
    ...args,
  ]
  return spawnSync(command, rest, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

// Debian starts a server as soon as PostgreSQL is installed. The tests need only the programs.
function withoutDefaultCluster(runAsRoot, install) {
  const folder = '/etc/postgresql-common/createcluster.d'
  const file = `${folder}/sotto-tests.conf`
  const asRoot = (...words) => spawnSync([...runAsRoot, ...words][0], [...runAsRoot, ...words].slice(1))
  const hadFolder = existsSync(folder)
  asRoot('mkdir', '-p', folder)
  asRoot('sh', '-c', `echo 'create_main_cluster = false' >${file}`)
  try {
    return install()
  } finally {
    asRoot('rm', '-f', file)
    if (!hadFolder) asRoot('rmdir', '--ignore-fail-on-non-empty', folder)
  }
}

// Debian starts a service when it is installed, and coturn, NATS and Prometheus whenever the machine starts.
// The tests need only the programs.
function withoutService(runAsRoot, install) {
  // Debian asks this program before it starts a service. In containers it exists already and always refuses.
  const file = '/usr/sbin/policy-rc.d'
  const asRoot = (...words) => spawnSync([...runAsRoot, ...words][0], [...runAsRoot, ...words].slice(1))
  const hadFile = existsSync(file)
  if (!hadFile) asRoot('sh', '-c', `printf '#!/bin/sh\\nexit 101\\n' >${file} && chmod 755 ${file}`)
  try {
    return install()
  } finally {
    if (!hadFile) asRoot('rm', '-f', file)
    for (const service of ['coturn', 'nats-server', 'prometheus']) asRoot('update-rc.d', service, 'disable')
  }
}

function succeeds([command, ...args]) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

function describe(missing, problem) {
  const list = missing.map(({ name, hint }) => `  ${name}\n    ${hint}\n`).join('')
  const names = missing.map((needed) => needed.debian).join(' ')
  return (
    `The tests need programs that npm cannot install:\n${list}` +
    `On Debian: apt-get install --no-install-recommends ${names}   (as root)\n` +
    `\`npm test\` installs them itself if it runs as root or sudo asks for no password; this time ${problem}.`
  )
}
