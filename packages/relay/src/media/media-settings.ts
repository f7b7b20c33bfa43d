// The settings of where blobs are kept. Read by config.ts, which is the only reader of the environment.
import { SettingError } from '../operations/setting-error.ts'

/** Settings of media. */
export const mediaSettings = {
  MEDIA_DIR: { default: '', means: 'folder that blobs are kept in; empty: `media` in DATA_DIR' },
  MEDIA_S3_BUCKET: {
    default: '',
    means: 'bucket of an S3-compatible store to keep blobs in, instead of the folder',
  },
  MEDIA_S3_ENDPOINT: { default: '', means: 'its address, such as https://s3.eu-central-1.amazonaws.com' },
  MEDIA_S3_PUBLIC_ENDPOINT: {
    default: '',
    means: 'the address clients reach it at, where that is another one',
  },
  MEDIA_S3_REGION: { default: 'us-east-1', means: 'its region' },
  MEDIA_S3_ACCESS_KEY: { default: '', means: 'name of the key to sign requests with' },
  MEDIA_S3_SECRET_KEY: { default: '', means: 'the key itself' },
  MEDIA_S3_PATH_STYLE: {
    default: 'on',
    means: 'off puts the bucket before the host name rather than into the path',
  },
} as const

/** Gives a setting's text, its default where the operator gave none. */
export type MediaSettingText = (name: keyof typeof mediaSettings) => string

/** Where blobs are kept. */
export type MediaConfig = FolderConfig | S3Config

/** In a folder; undefined: the usual one. */
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
  if (bucket === '') return { kind: 'folder', folder: text('MEDIA_DIR') || undefined }
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw wrong('MEDIA_S3_BUCKET', 'the name of a bucket')
  const needed = (name: keyof typeof mediaSettings): string => {
    if (text(name) === '') throw wrong(name, 'given, since MEDIA_S3_BUCKET is')
    return text(name)
  }
  const endpoint = addressOf('MEDIA_S3_ENDPOINT', needed('MEDIA_S3_ENDPOINT'))
  const publicText = text('MEDIA_S3_PUBLIC_ENDPOINT')
  const style = text('MEDIA_S3_PATH_STYLE')
  if (style !== 'on' && style !== 'off') throw wrong('MEDIA_S3_PATH_STYLE', 'on or off')
  return {
    kind: 's3',
    bucket,
    endpoint,
    publicEndpoint: publicText === '' ? endpoint : addressOf('MEDIA_S3_PUBLIC_ENDPOINT', publicText),
    region: needed('MEDIA_S3_REGION'),
    accessKey: needed('MEDIA_S3_ACCESS_KEY'),
    secretKey: needed('MEDIA_S3_SECRET_KEY'),
    isPathStyle: style === 'on',
  }
}

function addressOf(name: keyof typeof mediaSettings, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && /^https?:$/.test(url.protocol) && url.pathname === '/' && url.search === ''
  if (!isPlain) throw wrong(name, 'a URL without a path, such as https://s3.example')
  return url
}

function wrong(name: keyof typeof mediaSettings, rule: string): SettingError {
  return new SettingError(name, rule)
}
