// A real S3-compatible store for tests: one node of OpenStack Swift with its `s3api`, in a temporary folder.
// It checks signatures. Each test process starts at most one, which ends with the process.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { AwsV4Signer } from 'aws4fetch'
import { findSwift } from '../../../scripts/find-swift.mjs'
import { findFreePort } from './free-port.ts'

/** The running store. */
export interface SwiftServer {
  /** `http://127.0.0.1:<port>` */
  readonly endpoint: string
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
  /** A bucket that exists. */
  readonly bucket: string
  /** The folder of its disk. Each object, and each part of one, is a file `*.data` in it. */
  readonly disk: string
}

let shared: Promise<SwiftServer> | undefined

/** Starts the store of this process, or returns the running one. */
export function startSwift(): Promise<SwiftServer> {
  shared ??= start()
  return shared
}

const KINDS = ['account', 'container', 'object', 'proxy'] as const
const ACCESS_KEY = 'test:tester'
const SECRET_KEY = 'testing'
const REGION = 'us-east-1'

async function start(): Promise<SwiftServer> {
  const bin = findSwift()
  if (bin === undefined) {
    throw new Error(
      'OpenStack Swift is needed: its programs are in neither SWIFT_BIN nor /usr/bin. `npm test` says more.',
    )
  }
  const folder = makeFolder()
  const ports = await freePorts(KINDS.length)
  const portOf = (kind: (typeof KINDS)[number]): number => ports[KINDS.indexOf(kind)] ?? 0
  writeFileSync(
    join(folder, 'swift.conf'),
    '[swift-hash]\nswift_hash_path_suffix = tests\nswift_hash_path_prefix = tests\n[storage-policy:0]\nname = only\ndefault = yes\n',
  )
  for (const kind of KINDS) {
    writeFileSync(join(folder, `${kind}.conf`), kind === 'proxy' ? proxyConf() : storageConf(kind))
    if (kind !== 'proxy') writeRing(kind, portOf(kind))
  }
  startKeeper(bin, folder)
  const server = {
    endpoint: `http://127.0.0.1:${portOf('proxy')}`,
    accessKey: ACCESS_KEY,
    secretKey: SECRET_KEY,
    region: REGION,
    bucket: 'media',
    disk: join(folder, 'disks', 'disk'),
  }
  await makeBucket(server, folder)
  return server

  // By default Swift's servers wait between half a second and ten seconds for each other. A busy machine may
  // take longer. Then a request fails, or an object counts as written before the bucket's list has it.
  function common(kind: (typeof KINDS)[number]): string {
    return `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${portOf(kind)}
workers = 0
user = ${userInfo().username}
swift_dir = ${folder}
log_address = ${folder}/no-log
${['conn_timeout', 'node_timeout', 'container_update_timeout'].map((name) => `${name} = 60\n`).join('')}`
  }

  function storageConf(kind: 'account' | 'container' | 'object'): string {
    return `${common(kind)}devices = ${folder}/disks
mount_check = false
fallocate_reserve = 0
[pipeline:main]
pipeline = ${kind}-server
[app:${kind}-server]
use = egg:swift#${kind}
`
  }

  // The proxy may start before the other servers and must not count them as failed for a minute. tempauth
  // would store the tokens of Swift's native interface in memcached. These tests use none, so no memcached
  // runs.
  function proxyConf(): string {
    return `${common('proxy')}[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats bulk s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
error_suppression_limit = 1000000
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:9
[filter:s3api]
use = egg:swift#s3api
location = ${REGION}
max_upload_part_num = 10000
[filter:tempauth]
use = egg:swift#tempauth
user_${ACCESS_KEY.replace(':', '_')} = ${SECRET_KEY} .admin
${['catch_errors', 'gatekeeper', 'healthcheck', 'listing_formats', 'bulk', 'copy', 'slo', 'dlo']
  .map((name) => `[filter:${name}]\nuse = egg:swift#${name}\n`)
  .join('')}`
  }

  // Puts everything on the one device. `swift-ring-builder` writes the same, but needs three commands of
  // almost a second for each of the three rings, which is half a minute on a busy machine
  // (https://docs.openstack.org/swift/latest/overview_ring.html).
  function writeRing(kind: 'account' | 'container' | 'object', port: number): void {
    const place = { region: 1, zone: 1, ip: '127.0.0.1', port, device: 'disk', weight: 1, meta: '' }
    const device = { id: 0, ...place, replication_ip: place.ip, replication_port: port }
    const ring = { devs: [device], part_shift: 32 - 2, replica_count: 1, byteorder: 'little', version: 1 }
    const text = Buffer.from(JSON.stringify(ring))
    const head = Buffer.from('R1NG\0\x01....')
    head.writeUInt32BE(text.length, 6)
    const devicesOfParts = Buffer.alloc(2 * 2 ** 2)
    writeFileSync(join(folder, `${kind}.ring.gz`), gzipSync(Buffer.concat([head, text, devicesOfParts])))
  }
}

// Swift stores an object's metadata in extended attributes, which not every file system supports.
function makeFolder(): string {
  for (const place of [tmpdir(), '/var/tmp']) {
    const folder = mkdtempSync(join(place, 'sotto-swift-'))
    const probe = 'import os, sys; os.setxattr(sys.argv[1], "user.swift.test", b"x" * 1024)'
    if (spawnSync('/usr/bin/python3', ['-c', probe, folder]).status === 0) {
      mkdirSync(join(folder, 'disks', 'disk'), { recursive: true })
      return folder
    }
    rmSync(folder, { recursive: true })
  }
  throw new Error('Swift needs a file system with extended attributes, for TMPDIR or /var/tmp.')
}

// A shell that is the servers' parent and keeps them. When this process ends in any way, the shell's standard
// input closes; the shell then ends the servers and removes the folder.
const keeperScript = `
bin=$1 folder=$2
trap '' HUP INT TERM
for kind in ${KINDS.join(' ')}; do
  (trap - HUP INT TERM; exec "$bin/swift-$kind-server" "$folder/$kind.conf" --verbose) >"$folder/$kind.log" 2>&1 </dev/null &
  servers="$servers $!"
done
read -r _
kill -s KILL $servers
wait
rm -rf "$folder"
`

function startKeeper(bin: string, folder: string): void {
  const shell = spawn('sh', ['-c', keeperScript, 'keeper', bin, folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  shell.unref()
  const { stdin } = shell
  if (stdin && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref()
}

// A bucket can only be made when the proxy and the servers of accounts and containers work, and an object
// only when its server does. Until then Swift answers 503.
async function makeBucket(server: SwiftServer, folder: string): Promise<void> {
  const bucket = `${server.endpoint}/${server.bucket}`
  const steps = [
    { method: 'PUT', url: bucket },
    { method: 'PUT', url: `${bucket}/first` },
    { method: 'DELETE', url: `${bucket}/first` },
  ]
  for (const late = performance.now() + 180_000; performance.now() < late; await Bun.sleep(100)) {
    while (steps[0] && (await succeeds(server, steps[0]))) steps.shift()
    if (steps.length === 0) return
  }
  const logs = KINDS.map((kind) => readFileSync(join(folder, `${kind}.log`), 'utf8').slice(-1000))
  throw new Error(`Swift did not start:\n${logs.join('\n')}`)
}

async function succeeds(server: SwiftServer, step: { method: string; url: string }): Promise<boolean> {
  const { accessKey: accessKeyId, secretKey: secretAccessKey, region } = server
  const signer = new AwsV4Signer({ ...step, service: 's3', region, accessKeyId, secretAccessKey })
  const { url, headers } = await signer.sign()
  return await fetch(url, { method: step.method, headers }).then(
    ({ ok }) => ok,
    () => false,
  )
}

async function freePorts(count: number): Promise<number[]> {
  const found = new Set<number>()
  while (found.size < count) found.add(await findFreePort())
  return [...found]
}
