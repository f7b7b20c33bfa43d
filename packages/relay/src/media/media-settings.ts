// The settings of the place where blobs are stored. Only config.ts reads the environment and calls this.
import { SettingError } from '../operations/setting-error.ts'

/** Settings of media. */
export const mediaSettings = {
  MEDIA_DIR: { default: '', means: 'folder for media blobs; if empty, `media` in DATA_DIR' },
  MEDIA_TOTAL_BYTES: {
    default: '',
    means:
      'bytes of all accounts’ media together, including uploads in progress; more are refused. If empty, half of the disk of the folder; no limit in an S3-compatible store',
  },
  MEDIA_S3_BUCKET: {
    default: '',
    means: 'bucket of an S3-compatible store for media blobs, instead of the folder',
  },
  MEDIA_S3_ENDPOINT: {
    default: '',
    means: 'address of that store, such as https://s3.eu-central-1.amazonaws.com',
  },
  MEDIA_S3_PUBLIC_ENDPOINT: {
    default: '',
    means: 'its address for clients, if it is a different one',
  },
  MEDIA_S3_REGION: { default: 'us-east-1', means: 'region of that store' },
  MEDIA_S3_ACCESS_KEY: { default: '', means: 'id of the key that signs requests' },
  MEDIA_S3_SECRET_KEY: { default: '', means: 'secret of that key' },
  MEDIA_S3_PATH_STYLE: {
    default: 'on',
    means: 'off puts the bucket’s name into the host name instead of the path',
  },
} as const

/** Returns a setting's text, or its default if the operator did not set it. */
export type MediaSettingText = (name: keyof typeof mediaSettings) => string

/** Where blobs are kept. */
export type MediaConfig = (FolderConfig | S3Config) & {
  /** How many bytes all media may have together; undefined if it depends on the disk. */
  readonly totalBytes: number | undefined
  /** MEDIA_DIR. If blobs are in a bucket, `sotto copy` may find some that are still here. */
  readonly folder: string | undefined
}

/** In a folder; undefined means the default folder. */
export interface FolderConfig {
  readonly kind: 'folder'
  readonly folder: string | undefined
}

/** In a bucket of an S3-compatible store. */
export interface S3Config {
  readonly kind: 's3'
  readonly bucket: string
  readonly endpoint: URL
  readonly publicEndpoint: URL
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
  readonly isPathStyle: boolean
}

/** @throws SettingError at the first setting that cannot be used */
export function mediaConfigOf(text: MediaSettingText): MediaConfig {
  const bucket = text('MEDIA_S3_BUCKET')
  const totalBytes = totalOf(text('MEDIA_TOTAL_BYTES'))
  const folder = text('MEDIA_DIR') || undefined
  if (bucket === '') return { kind: 'folder', folder, totalBytes }
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw settingError('MEDIA_S3_BUCKET', 'the name of a bucket')
  const needed = (name: keyof typeof mediaSettings): string => {
    if (text(name) === '') throw settingError(name, 'given, since MEDIA_S3_BUCKET is')
    return text(name)
  }
  const endpoint = addressOf('MEDIA_S3_ENDPOINT', needed('MEDIA_S3_ENDPOINT'))
  const publicText = text('MEDIA_S3_PUBLIC_ENDPOINT')
  const style = text('MEDIA_S3_PATH_STYLE')
  if (style !== 'on' && style !== 'off') throw settingError('MEDIA_S3_PATH_STYLE', 'on or off')
  return {
    kind: 's3',
    folder,
    bucket,
    endpoint,
    publicEndpoint: publicText === '' ? endpoint : addressOf('MEDIA_S3_PUBLIC_ENDPOINT', publicText),
    region: needed('MEDIA_S3_REGION'),
    accessKey: needed('MEDIA_S3_ACCESS_KEY'),
    secretKey: needed('MEDIA_S3_SECRET_KEY'),
    isPathStyle: style === 'on',
    totalBytes,
  }
}

function totalOf(text: string): number | undefined {
  if (text === '') return undefined
  if (!/^[0-9]{1,15}$/.test(text)) throw settingError('MEDIA_TOTAL_BYTES', 'a whole number of bytes')
  return Number(text)
}

function addressOf(name: keyof typeof mediaSettings, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === ''
  if (!isPlain) throw settingError(name, 'a URL without a path, such as https://s3.example')
  return url
}

function settingError(name: keyof typeof mediaSettings, rule: string): SettingError {
  return new SettingError(name, rule)
}
