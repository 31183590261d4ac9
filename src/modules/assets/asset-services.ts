/** All about assets, made from their parts. */

import type { KeyObject } from 'node:crypto'
import type { Chain, Histories } from '../../chain/chain-types.ts'
import type { Database } from '../../db/database-types.ts'
import { createBlockService } from '../../files/block-service.ts'
import type { ContentCredentials, ContentStore, PictureMaker } from '../../files/file-types.ts'
import type { ConcurrencyCounter } from '../../shared/concurrency-counter.ts'
import type { Idempotency } from '../../shared/idempotency.ts'
import type { Limits } from '../../shared/limits.ts'
import type { Log } from '../../shared/log.ts'
import type { RateLimiter } from '../../shared/rate-limiter.ts'
import type { Semaphore } from '../../shared/semaphore.ts'
import type { Meter } from '../../telemetry/telemetry-types.ts'
import { createHistoryService } from '../commits/history-service.ts'
import { createTreeService } from '../commits/tree-service.ts'
import { createVersionService } from '../commits/version-service.ts'
import { createContentCredentialsService } from '../content-credentials/content-credentials-service.ts'
import { createManifestReader } from '../content-credentials/manifest-reader.ts'
import type { FeedNotifications } from '../events/notification-types.ts'
import type { FundsService } from '../wallet/funds.ts'
import type { Prices } from '../wallet/pricing.ts'
import { createAssetService } from './asset-service.ts'
import { createLinkService } from './link-service.ts'
import { createKeep } from './store-and-pin.ts'
import { createThumbnailService } from './thumbnail-service.ts'
import type { Uploads } from './uploads.ts'

interface Dependencies {
  database: Database
  contentStore: ContentStore
  chain: Chain
  assetLinkKey: KeyObject
  publicUrl: string
  histories?: Histories
  /** Limits verifications of histories. */
  verifications: Semaphore
  proofs: Semaphore
  manifests: Semaphore
  pictures: PictureMaker
  contentCredentials: ContentCredentials
  uploads: Uploads
  notifications: FeedNotifications
  rateLimiter: RateLimiter
  counter: ConcurrencyCounter
  limits: Limits
  idempotency: Idempotency
  pricing: Prices
  funds: FundsService
  log: Log
  meter: Meter
  /** Whether only verified addresses count. */
  verifiesAddresses: boolean
  /** Seconds that blocks may lie unpinned. */
  graceSeconds: number
  /** Of this program. */
  version: string
  /** Where the registry is, if it is configured. */
  registryAddress: string | undefined
}

/** The services of assets, by the names that the context has for them. */
export type AssetServices = ReturnType<typeof createAssetServices>['services']

/** Makes the services of assets, and what carries out their jobs. */
export function createAssetServices(given: Dependencies) {
  const deps = { ...given, keep: createKeep(given) }
  const { verifiesAddresses, uploads } = deps
  const versions = createVersionService(deps)
  const assets = createAssetService({ ...deps, uploads, versions, config: { verifiesAddresses } })
  const thumbnails = createThumbnailService(deps)
  return {
    services: {
      assets,
      blocks: createBlockService(deps),
      assetLinks: createLinkService({ ...deps, key: deps.assetLinkKey }),
      histories: createHistoryService({ ...deps, assets }),
      contentCredentials: createContentCredentialsService(deps),
      thumbnails,
      trees: createTreeService(deps),
      uploads,
      versions,
    },
    jobs: { thumbnail: thumbnails.handle, manifest: createManifestReader(deps).handle },
  }
}
