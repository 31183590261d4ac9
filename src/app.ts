/** The composition root of a process. */
import { createSecretKey } from 'node:crypto'
import { join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import type { Coins, Histories } from './chain/chain-types.ts'
import { createChain, noCoins } from './chain/create-chain.ts'
import type { RelayAccount } from './chain/keys.ts'
import { idle, type Poller } from './chain/poller.ts'
import type { AppContext, LinkConfig } from './context.ts'
import type { ContentCredentials } from './files/file-types.ts'
import { createFileLinks } from './files/gateway.ts'
import { createUploadFolder } from './http/upload-folder.ts'
import type { Infrastructure } from './infrastructure.ts'
import { createMaintenance } from './jobs/maintenance.ts'
import type { JobHandlers } from './jobs/queues.ts'
import { createLocalCipher } from './keys/seal.ts'
import { createMailComposer } from './mail/mail-templates.ts'
import { createCredentials } from './modules/accounts/authenticate.ts'
import { deleteRestoredAccounts, forgetKey } from './modules/accounts/delete-account.ts'
import { sendAccountMail } from './modules/accounts/send-account-mail.ts'
import { makeThumbnail } from './modules/assets/thumbnails.ts'
import { createUploads } from './modules/assets/uploads.ts'
import { actionDocuments, actionNids } from './modules/commits/commits.ts'
import { createEventStreams } from './modules/events/event-streams.ts'
import { sendOrderMail } from './modules/store/send-order-mail.ts'
import { abandonDelivery, deliverWebhook } from './modules/webhooks/deliver-webhook.ts'
import { createWebhookEventLookup } from './modules/webhooks/delivery-payload.ts'
import { createWebhookSender } from './modules/webhooks/webhook-sender.ts'
import { createConcurrencyCounter } from './shared/concurrency-counter.ts'
import { unavailable } from './shared/errors.ts'
import { createRateLimiter, createRequestQuota, createSemaphores } from './shared/limiters.ts'

/** Only this file imports the optional modules. */
const optionalModules = {
  coins: () => import('./modules/coins/coins.module.ts'),
  contentCredentials: () => import('./modules/content-credentials/content-credentials.module.ts'),
  admin: () => import('./modules/admin/admin.module.ts'),
}
type ModuleName = keyof typeof optionalModules
export type Modules = { readonly [Name in ModuleName]?: Awaited<ReturnType<(typeof optionalModules)[Name]>> }

export async function loadModules(names = Object.keys(optionalModules) as readonly ModuleName[]): Promise<Modules> {
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await optionalModules[name]()] as const)),
  )
}

interface CoinParts {
  coins: Coins
  treasuryWorker: Poller
  deposits: Poller
  treasury?: RelayAccount
}

export type OpenChain = Awaited<ReturnType<typeof openChain>>

/** Starts nothing except an embedded chain. */
export async function openChain(infrastructure: Infrastructure, publicUrl: string, modules: Modules) {
  const chain = await createChain(infrastructure, publicUrl)
  const noParts: CoinParts = { coins: noCoins, treasuryWorker: idle, deposits: idle }
  const parts: CoinParts = modules.coins?.createCoins(infrastructure, chain) ?? noParts
  return {
    ...chain,
    ...parts,
    async close() {
      await Promise.all([chain.relay.stop(), parts.deposits.stop(), parts.treasuryWorker.stop()])
      await chain.close()
    },
  }
}

/** Used if the module is not loaded. */
const noContentCredentials: ContentCredentials = {
  signedBy: () => undefined,
  write() {
    throw unavailable('Content Credentials')
  },
  read: async () => undefined,
}

export interface AppDependencies extends Omit<Infrastructure, 'close' | 'abandon'> {
  modules: Modules
  /** Default: `noCoins`. */
  coins?: Coins
  /** Default: the gas fee of the configuration. */
  gasFee?: (() => string) | undefined
  histories?: Histories
  relay: { wake(): void }
  publicUrl: string
}

export type App = ReturnType<typeof createApp>

/** Starts nothing. Call `prepare` before serving requests. */
export function createApp(deps: AppDependencies) {
  const { config, database, contentStore, vault, passwords, log, publicUrl, modules } = deps
  const { limits, dir } = config
  const { meter, tracer } = deps.telemetry
  const nids = actionNids(contentStore)
  const explorer = config.chain.explorerUrl?.replace(/\/+$/, '')
  const explorerUrl = (transactionHash: string) => (explorer ? `${explorer}/tx/${transactionHash}` : null)
  const links = createFileLinks({ key: vault.derive('file-links') })
  const linkConfig: LinkConfig = {
    ...{ publicUrl, provider: config.chain.provider, explorerUrl, actionNids: nids },
    signFilePath: links.sign,
  }
  const counter = createConcurrencyCounter({ database, log })
  const folder = createUploadFolder({ dir: join(dir, 'uploads') })
  const context: AppContext = {
    coins: noCoins,
    ...deps,
    eventStreams: createEventStreams({ ...deps, meter, counter, limits }),
    webhookSender: createWebhookSender({ allowInsecure: config.store.allowInsecureWebhooks, tracer }),
    unsavedOutcomes: new Map(),
    findWebhookEvent: createWebhookEventLookup(database),
    contentCredentials:
      modules.contentCredentials?.createContentCredentials({ dir, config: config.contentCredentials, log }) ??
      noContentCredentials,
    histories: deps.histories,
    ...{ meter, tracer, counter, linkConfig },
    composeMail: createMailComposer({ currency: config.money.currency, publicUrl }),
    gasFee: deps.gasFee ?? (() => config.money.gasFee),
    chain: { wake: () => deps.relay.wake(), explorerUrl },
    idempotencySecrets: {
      digestKey: createSecretKey(vault.derive('idempotency')),
      answers: createLocalCipher(vault.derive('idempotency-answers')),
    },
    rateLimiter: createRateLimiter({ database, meter, limits }),
    requestQuota: createRequestQuota({ meter, limits }),
    uploads: createUploads({ folder, counter, maxBytes: limits['upload-megabytes'] * 1_000_000, meter }),
    assetLinkKey: createSecretKey(vault.derive('asset-links')),
    credentials: createCredentials({ database }),
    semaphores: createSemaphores(meter),
    signedCopies: { inProgress: new Map(), rejections: new Map() },
    deletions: new Map(),
    version: manifest.version,
  }
  const maintenance = createMaintenance({
    ...{ database, contentStore, rateLimiter: context.rateLimiter, counter, uploads: context.uploads, meter, log },
    documents: Object.values(nids),
    graceSeconds: config.files.garbageGraceSeconds,
    retention: config.retention,
  })

  return {
    ...{ context, modules, maintenance, links },
    watched: {
      queues: { passwords: passwords.load, exports: context.semaphores.exports.load },
      overdue: maintenance.overdue,
    },
    jobs: {
      'account-mail': (job) => sendAccountMail(context, job),
      'forget-key': (job) => forgetKey(context, job),
      mail: (job) => sendOrderMail(context, job),
      'webhook-delivery': (job) => deliverWebhook(context, job),
      'abandoned-delivery': (job) => abandonDelivery(context, job),
      manifest: async (job) => modules.contentCredentials?.readManifest(context, job),
      thumbnail: (job) => makeThumbnail(context, job),
    } satisfies JobHandlers,
    /** Stores documents of actions, and deletes old uploads and accounts that a backup restored. */
    async prepare() {
      await maintenance.deleteAbandonedUploads()
      await deleteRestoredAccounts(context)
      for (const text of Object.values(actionDocuments)) await contentStore.putDocument(Buffer.from(text))
    },
  }
}
