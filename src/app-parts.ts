/** Creates the context and the job handlers of a process. Commands use it without the HTTP routes of `app.ts`. */

import { createSecretKey } from 'node:crypto'
import { join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import type { Coins, Histories } from './chain/chain-types.ts'
import type { Config } from './config.ts'
import type { AppContext, LinkConfig, Semaphores } from './context.ts'
import type { Database } from './db/database-types.ts'
import { createFileLinks, type FileLinks } from './files/file-links.ts'
import type { ContentCredentials, ContentStore, PictureMaker } from './files/file-types.ts'
import { createUploadFolder } from './http/upload-folder.ts'
import { createMaintenance, type Maintenance } from './jobs/maintenance.ts'
import type {
  AccountMailJob,
  DeliveryJob,
  ForgetKeyJob,
  ManifestJob,
  OrderMailJob,
  ThumbnailJob,
} from './jobs/queues.ts'
import { createLocalCipher } from './keys/envelope-cipher.ts'
import type { Custody, EnvelopeCipher, KeyVault } from './keys/key-types.ts'
import type { WatchedHasher } from './keys/password-hasher.ts'
import { createMailComposer } from './mail/mail-templates.ts'
import type { Mailer } from './mail/mail-types.ts'
import { createCredentials } from './modules/accounts/authenticate.ts'
import { deleteRestoredAccounts } from './modules/accounts/clean-up-deleted-accounts.ts'
import { forgetKey } from './modules/accounts/delete-account.ts'
import { sendAccountMail } from './modules/accounts/send-account-mail.ts'
import { makeThumbnail } from './modules/assets/thumbnails.ts'
import { createUploads } from './modules/assets/uploads.ts'
import { actionDocuments, actionNids } from './modules/commits/commit-data.ts'
import { readManifest } from './modules/content-credentials/read-manifest.ts'
import { createEventStreams } from './modules/events/event-streams.ts'
import type { FeedNotifications } from './modules/events/notification-types.ts'
import { createActionArgs } from './modules/store/action-args.ts'
import { sendOrderMail } from './modules/store/send-order-mail.ts'
import { abandonDelivery, deliverWebhook } from './modules/webhooks/deliver-webhook.ts'
import { createWebhookEventLookup } from './modules/webhooks/delivery-payload.ts'
import { createWebhookSender } from './modules/webhooks/webhook-sender.ts'
import { createConcurrencyCounter } from './shared/concurrency-counter.ts'
import { throttled, unavailable } from './shared/errors.ts'
import { createIdempotencySecrets } from './shared/idempotency.ts'
import type { Log } from './shared/log.ts'
import { createRateLimiter, createRequestQuota, isServiceKey } from './shared/rate-limiter.ts'
import { createSemaphore } from './shared/semaphore.ts'
import type { Meter, Telemetry, WatchedServices } from './telemetry/telemetry-types.ts'

/** The parts that `infrastructure.ts` and `open-chain.ts` open, and the configuration. */
export interface AppDependencies {
  config: Config
  database: Database
  contentStore: ContentStore
  custody: Custody
  passwords: WatchedHasher
  pictures: PictureMaker
  contentCredentials: ContentCredentials
  vault: KeyVault
  envelopeCipher: EnvelopeCipher
  mailer: Mailer
  /** `noCoins` without the module `coins`. */
  coins: Coins
  notifications: FeedNotifications
  /** Returns the current gas fee of a commit. The configured fee if missing. */
  gasFee?: (() => string) | undefined
  /** Reads histories from the chain. Missing in commands that need no chain. */
  histories?: Histories
  /** Is notified of pending commits. */
  relay: { wake(): void }
  telemetry: Telemetry
  log: Log
  /** Base URL of the service, without a trailing slash. */
  publicUrl: string
}

/** The context of a process, its jobs and its maintenance. */
export interface AppParts {
  /** Context of use cases, without a caller. */
  context: AppContext
  maintenance: Maintenance
  linkConfig: LinkConfig
  links: FileLinks
  /** Load of queues, for metrics. */
  watched: WatchedServices
  /** Handlers of the queues. */
  jobs: {
    accountMail(job: AccountMailJob): Promise<void>
    forgetKey(job: ForgetKeyJob): Promise<void>
    mail(job: OrderMailJob): Promise<void>
    manifest(job: ManifestJob): Promise<void>
    thumbnail(job: ThumbnailJob): Promise<void>
    webhookDelivery(job: DeliveryJob): Promise<void>
    abandonedDelivery(job: DeliveryJob): Promise<void>
  }
  /** Stores the documents that commits refer to, deletes uploads of previous processes, and deletes accounts that a backup restored. */
  prepare(): Promise<void>
}

/** Coins of a process without the module `coins`. */
export const noCoins: Coins = {
  treasury: async () => ({ address: '', balance: undefined }),
  async quote() {
    throw unavailable('The chain')
  },
  signLastTransfers: async () => ({ store: async () => true }),
}

/** Returns the places that a caller may hold. A trusted service acts for many users and may hold more. */
const perKey = (ofService: number) => (key: string) => (isServiceKey(key) ? ofService : 1)

const createSemaphores = (meter: Meter): Semaphores => ({
  // A verification reads a history from the chain block by block, which takes seconds for a long history.
  verifications: createSemaphore({ name: 'Verifications', places: 2, perKey: perKey(2), queue: 20, maxWait: 5_000 }),
  // A proof holds a page of blocks as long as its reader takes.
  proofs: createSemaphore({ name: 'Proofs', places: 6, perKey: perKey(5), queue: 60, maxWait: 5_000 }),
  // An export holds a few megabytes as long as its reader takes.
  exports: createSemaphore({ name: 'Exports', places: 3, perKey: perKey(2), queue: 20, maxWait: 5_000 }),
  accountExports: createSemaphore({
    ...{ name: 'Exports', perKey: 1, queue: 0, maxWait: 0 },
    reject() {
      meter.count('annal_limit_rejections_total', { limit: 'exports' })
      return throttled(30)
    },
  }),
  // Signing a file takes a core for up to half a minute.
  signedCopies: createSemaphore({
    ...{ name: 'Files with Content Credentials', places: 2, perKey: perKey(2), queue: 20, maxWait: 30_000 },
  }),
  // Guesses at one account wait for each other, so that concurrent requests cannot exceed the limit of wrong guesses.
  passwordGuesses: createSemaphore({
    ...{ name: 'Signing in', perKey: 2, queue: Number.POSITIVE_INFINITY, queuePerKey: 100, maxWait: 30_000 },
    reject: () => throttled(5),
  }),
  // Scaling a picture takes a core for up to ten seconds, and up to 0.7 GB.
  pictures: createSemaphore({
    ...{ name: 'Pictures', places: 1, perKey: perKey(1), queue: 20, maxWait: 20_000 },
    // An account leaves a waiting place for others at its address.
    queuePerKey: (key) => (key.startsWith('user:') ? 2 : 3),
    reject: () => throttled(10),
  }),
})

/** Creates the parts. Starts nothing. Call `prepare` before serving requests. */
export function createAppParts(deps: AppDependencies): AppParts {
  const { config, database, contentStore, vault, passwords, log, publicUrl } = deps
  const { meter, tracer } = deps.telemetry
  const nids = actionNids(contentStore)
  const explorer = config.chain.explorerUrl?.replace(/\/+$/, '')
  const explorerUrl = (transactionHash: string) => (explorer ? `${explorer}/tx/${transactionHash}` : null)
  const links = createFileLinks({ key: vault.derive('file-links') })
  const linkConfig: LinkConfig = {
    publicUrl,
    provider: config.chain.provider,
    explorerUrl,
    actionNids: nids,
    signFilePath: links.sign,
  }

  const { limits } = config
  const rateLimiter = createRateLimiter({ database, meter, limits })
  const requestQuota = createRequestQuota({ meter, limits })
  const counter = createConcurrencyCounter({ database, log })
  const composeMail = createMailComposer({ currency: config.money.currency, publicUrl })
  const idempotencySecrets = createIdempotencySecrets(
    vault.derive('idempotency'),
    createLocalCipher(vault.derive('idempotency-answers')),
  )
  const gasFee = deps.gasFee ?? (() => config.money.gasFee)
  const chain = { wake: () => deps.relay.wake(), explorerUrl }
  const actionArgs = createActionArgs(deps)
  const context: AppContext = {
    ...deps,
    actionArgs,
    eventStreams: createEventStreams({ ...deps, meter, counter, limits }),
    webhookSender: createWebhookSender({ allowInsecure: config.store.allowInsecureWebhooks, tracer }),
    unsavedOutcomes: new Map(),
    findWebhookEvent: createWebhookEventLookup(database),
    histories: deps.histories,
    meter,
    tracer,
    composeMail,
    gasFee,
    chain,
    linkConfig,
    idempotencySecrets,
    rateLimiter,
    requestQuota,
    counter,
    uploads: createUploads({
      folder: createUploadFolder({ dir: join(config.dir, 'uploads') }),
      counter,
      maxBytes: limits['upload-megabytes'] * 1_000_000,
      meter,
    }),
    assetLinkKey: createSecretKey(vault.derive('asset-links')),
    credentials: createCredentials({ database }),
    semaphores: createSemaphores(meter),
    signedCopies: { inProgress: new Map(), rejections: new Map() },
    deletions: new Map(),
    version: manifest.version,
  }
  const { uploads } = context
  const maintenance = createMaintenance({
    ...{ database, contentStore, rateLimiter, counter, uploads, meter, log },
    documents: Object.values(nids),
    graceSeconds: config.files.garbageGraceSeconds,
    retention: config.retention,
  })

  return {
    context,
    maintenance,
    linkConfig,
    links,
    watched: {
      queues: { passwords: passwords.load, exports: context.semaphores.exports.load },
      overdue: maintenance.overdue,
    },
    jobs: {
      accountMail: (job) => sendAccountMail(context, job),
      forgetKey: (job) => forgetKey(context, job),
      mail: (job) => sendOrderMail(context, job),
      webhookDelivery: (job) => deliverWebhook(context, job),
      abandonedDelivery: (job) => abandonDelivery(context, job),
      manifest: (job) => readManifest(context, job),
      thumbnail: (job) => makeThumbnail(context, job),
    },
    async prepare() {
      await maintenance.deleteAbandonedUploads()
      await deleteRestoredAccounts(context)
      for (const text of Object.values(actionDocuments)) await contentStore.putDocument(Buffer.from(text))
    },
  }
}
