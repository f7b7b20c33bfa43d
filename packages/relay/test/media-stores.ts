// The places blobs can be kept in, as settings of a relay: what holds in one has to hold in the other.
import { engines } from './engines.ts'
import { startSwift } from './swift-server.ts'

/** One way to keep blobs. */
export interface MediaPlace {
  readonly name: string
  /** True where parts but the last have to be of 5 MiB. */
  readonly wantsLargeParts: boolean
  /** True where a download says how long it is, however long. */
  readonly tellsLength: boolean
  /** Settings that make a relay use it. */
  environment(): Promise<Record<string, string>>
}

/** Settings that make a relay keep its blobs in Swift. */
export async function swiftEnvironment(): Promise<Record<string, string>> {
  const { endpoint, bucket, region, accessKey, secretKey } = await startSwift()
  return {
    MEDIA_S3_ENDPOINT: endpoint,
    MEDIA_S3_BUCKET: bucket,
    MEDIA_S3_REGION: region,
    MEDIA_S3_ACCESS_KEY: accessKey,
    MEDIA_S3_SECRET_KEY: secretKey,
  }
}

/** A folder beside each engine, and an S3-compatible store. */
export const mediaPlaces: readonly MediaPlace[] = [
  ...engines.map((engine) => ({
    name: `a folder, on ${engine.name}`,
    wantsLargeParts: false,
    tellsLength: true,
    environment: () => engine.environment(),
  })),
  { name: 'Swift', wantsLargeParts: true, tellsLength: false, environment: swiftEnvironment },
]
