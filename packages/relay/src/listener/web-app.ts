// Serves the web app: the files of one folder, read when the relay starts. So no request reaches the disk,
// and no path leads out of the folder.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, sep } from 'node:path'
import { SettingError } from '../operations/setting-error.ts'
import type { Visit, WebPage } from './web-pages.ts'

/** A file of the app, as browsers get it. */
interface AppFile {
  readonly plain: Coded
  /** The same, compressed with Brotli when the app was built. */
  readonly brotli: Coded | undefined
  readonly headers: Readonly<Record<string, string>>
}

interface Coded {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly etag: string
}

/** The web app. */
export interface WebApp {
  /** All files except the page. */
  readonly pages: readonly WebPage[]
  /** The page itself. */
  home(request: Request): Response
  /** The file at a path, such as `/icons/app.svg`, except the page; undefined if there is none. */
  fileAt(path: string, request: Request): Response | undefined
}

const INDEX = 'index.html'
/** The files here have a hash in their names: another content has another name. */
const HASHED = 'assets/'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

/** What a page of the app may use of the device, and what of the rest browsers know by name. */
const PERMISSIONS = [
  ...['camera=(self)', 'microphone=(self)', 'display-capture=(self)'],
  ...['accelerometer', 'geolocation', 'gyroscope', 'hid', 'idle-detection', 'local-fonts'].map(none),
  ...['magnetometer', 'midi', 'payment', 'publickey-credentials-get', 'serial', 'usb'].map(none),
  ...['xr-spatial-tracking'].map(none),
].join(', ')

function none(feature: string): string {
  return `${feature}=()`
}

/**
 * Reads the app.
 * @param connect further origins that the app may send requests to: where media are kept
 * @param setting the setting that named the folder
 * @throws SettingError if the folder has no built app
 */
export function readWebApp(folder: string, connect: readonly string[], setting = 'APP_DIR'): WebApp {
  const names = namesIn(folder, setting)
  if (!names.includes(INDEX)) throw new SettingError(setting, `a folder with the built app, or off`)
  const policy = policyOf(connect)
  const files = new Map(
    names.filter((name) => !isCopy(name, names)).map((name) => [name, readFile(folder, name, names, policy)]),
  )
  const answerWith = (name: string, request: Request): Response => {
    const file = files.get(name)
    if (!file) throw new Error(`the app has no ${name}`)
    return answer(request, file)
  }
  return {
    pages: [...files.keys()]
      .filter((name) => name !== INDEX)
      .map((name) => ({
        path: `/${name}`,
        methods: ['GET', 'HEAD'],
        rate: 'page',
        answer: async ({ request }: Visit) => answerWith(name, request),
      })),
    home: (request) => answerWith(INDEX, request),
    fileAt: (path, request) => {
      const file = path === `/${INDEX}` ? undefined : files.get(path.slice(1))
      return file && answer(request, file)
    },
  }
}

/** Whether a request is a browser's for a page. Others get text at the same address. */
export function isForPage(request: Request): boolean {
  return takes(request.headers.get('accept'), 'text/html')
}

/** Whether a list such as `br;q=0.5, gzip` has this value, and not to exclude it. */
function takes(list: string | null, value: string): boolean {
  return (list ?? '').split(',').some((entry) => {
    const [name, ...parameters] = entry.split(';').map((part) => part.trim().toLowerCase())
    return name === value && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}

function namesIn(folder: string, setting: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
      .map(({ parentPath, name }) => join(parentPath, name).slice(join(folder, sep).length))
      .map((name) => name.split(sep).join('/'))
      .sort()
  } catch {
    throw new SettingError(setting, `a folder that the relay can read, or off`)
  }
}

function isCopy(name: string, names: readonly string[]): boolean {
  return name.endsWith('.br') && names.includes(name.slice(0, -'.br'.length))
}

function readFile(folder: string, name: string, names: readonly string[], policy: string): AppFile {
  const read = (path: string): Coded => {
    const bytes = new Uint8Array(readFileSync(join(folder, path)))
    return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }
  }
  const isHashed = name.startsWith(HASHED)
  return {
    plain: read(name),
    brotli: names.includes(`${name}.br`) ? read(`${name}.br`) : undefined,
    headers: {
      'content-type': types[extname(name)] ?? 'application/octet-stream',
      'cache-control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
      vary: isHashed ? 'Accept-Encoding' : 'Accept, Accept-Encoding',
      // Also for scripts: workers take the policy of their own file.
      'content-security-policy': policy,
      'permissions-policy': PERMISSIONS,
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'x-frame-options': 'DENY',
    },
  }
}

function answer(request: Request, file: AppFile): Response {
  const brotli = takes(request.headers.get('accept-encoding'), 'br') ? file.brotli : undefined
  const { bytes, etag } = brotli ?? file.plain
  const headers = { ...file.headers, etag, ...(brotli ? { 'content-encoding': 'br' } : {}) }
  const known = request.headers.get('if-none-match') ?? ''
  // A proxy that compresses marks the tag as weak.
  if (known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag))
    return new Response(null, { status: 304, headers })
  return new Response(bytes, { headers })
}

/**
 * What the app's page may do. The page has the same policy in a `<meta>` element, for servers that send no
 * header, but there it has to allow every relay.
 */
function policyOf(connect: readonly string[]): string {
  return [
    "default-src 'none'",
    ...["script-src 'self'", "worker-src 'self'", "style-src 'self'", "manifest-src 'self'"],
    ...["img-src 'self' blob: data:", "media-src 'self' blob: mediastream:"],
    ["connect-src 'self'", ...connect].join(' '),
    ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
    ...["require-trusted-types-for 'script'", 'trusted-types sotto'],
  ].join('; ')
}
