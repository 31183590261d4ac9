/** The composition root: loads optional modules, connects to the chain, and creates a process's context and jobs. */
import { createSecretKey } from 'node:crypto'
import { join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import type { Coins, Histories } from './chain/chain-types.ts'
import { type ChainConnection, createChain, noCoins } from './chain/create-chain.ts'
import type { RelayAccount } from './chain/keys.ts'
import { idle, type Poller } from './chain/poller.ts'
import type { AppContext, LinkConfig } from './context.ts'
import type { ContentCredentials } from './files/file-types.ts'
import { createFileLinks, type FileLinks } from './files/gateway.ts'
import { createUploadFolder } from './http/upload-folder.ts'
import type { Infrastructure } from './infrastructure.ts'
import { createMaintenance, type Maintenance } from './jobs/maintenance.ts'
import type { JobHandlers } from './jobs/queues.ts'
import { createLocalCipher } from './keys/envelope-encryption.ts'
import { createMailComposer } from './mail/mail-templates.ts'
import { createCredentials } from './modules/accounts/authenticate.ts'
import { deleteRestoredAccounts, forgetKey } from './modules/accounts/delete-account.ts'
import { sendAccountMail } from './modules/accounts/send-account-mail.ts'
import { makeThumbnail } from './modules/assets/thumbnails.ts'
import { createUploads } from './modules/assets/uploads.ts'
import { actionDocuments, actionNids } from './modules/commits/commits.ts'
import { createEventStreams } from './modules/events/event-streams.ts'
import { createActionArgs } from './modules/store/action-args.ts'
import { sendOrderMail } from './modules/store/send-order-mail.ts'
import { abandonDelivery, deliverWebhook } from './modules/webhooks/deliver-webhook.ts'
import { createWebhookEventLookup } from './modules/webhooks/delivery-payload.ts'
import { createWebhookSender } from './modules/webhooks/webhook-sender.ts'
import { createConcurrencyCounter } from './shared/concurrency-counter.ts'
import { unavailable } from './shared/errors.ts'
import { createRateLimiter, createRequestQuota, createSemaphores } from './shared/limiters.ts'
import type { WatchedServices } from './telemetry/telemetry-types.ts'

/** The optional modules. Only this file imports them. Each adds types, routes, jobs and pages to the service. */
const optionalModules = {
  coins: () => import('./modules/coins/coins.module.ts'),
  contentCredentials: () => import('./modules/content-credentials/content-credentials.module.ts'),
  admin: () => import('./modules/admin/admin.module.ts'),
}
type ModuleName = keyof typeof optionalModules

/** The loaded optional modules. */
export type Modules = { readonly [Name in ModuleName]?: Awaited<ReturnType<(typeof optionalModules)[Name]>> }

/** Loads optional modules. Default: all. */
export async function loadModules(names = Object.keys(optionalModules) as readonly ModuleName[]): Promise<Modules> {
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await optionalModules[name]()] as const)),
  )
}

/** The chain and the coins of a process. `close` stops both. */
export interface OpenChain extends ChainConnection {
  coins: Coins
  /** Poller that sweeps deposits and pays withdrawals. */
  treasuryWorker: Poller
  /** Poller that finds deposits on the chain. */
  deposits: Poller
  /** Treasury account, to which deposits are swept and from which withdrawals are paid. */
  treasury?: RelayAccount
}

/** Connects to the chain. Nothing is started except an embedded chain. */
export async function openChain(
  infrastructure: Infrastructure,
  publicUrl: string,
  modules: Modules,
): Promise<OpenChain> {
  const chain = await createChain(infrastructure, publicUrl)
  const parts: Pick<OpenChain, 'coins' | 'treasuryWorker' | 'deposits'> = modules.coins?.createCoins(
    infrastructure,
    chain,
  ) ?? { coins: noCoins, treasuryWorker: idle, deposits: idle }
  return {
    ...chain,
    ...parts,
    async close() {
      await Promise.all([chain.relay.stop(), parts.deposits.stop(), parts.treasuryWorker.stop()])
      await chain.close()
    },
  }
}

/** Content Credentials of a process that does not load their module. */
const noContentCredentials: ContentCredentials = {
  signedBy: () => undefined,
  write() {
    throw unavailable('Content Credentials')
  },
  read: async () => undefined,
}

/** Dependencies of an application. */
export interface AppDependencies extends Omit<Infrastructure, 'close' | 'abandon'> {
  modules: Modules
  /** Deposits and withdrawals of coins. Default: `noCoins`. */
  coins?: Coins
  /** Returns the current gas fee of a commit. Default: the gas fee of the configuration. */
  gasFee?: (() => string) | undefined
  /** Reads histories from the chain. Missing in commands that need no chain. */
  histories?: Histories
  /** The relay, which is notified of pending commits. */
  relay: { wake(): void }
  /** Base URL of the service, without a trailing slash. */
  publicUrl: string
}

/** The context of a process, its jobs and its maintenance. */
export interface App {
  /** Context of use cases, without a caller. */
  context: AppContext
  modules: Modules
  maintenance: Maintenance
  linkConfig: LinkConfig
  links: FileLinks
  /** Services whose load is shown as metrics. */
  watched: WatchedServices
  jobs: JobHandlers
  /** Stores the documents that commits refer to, and deletes old uploads and accounts that a backup restored. */
  prepare(): Promise<void>
}

/** Creates an application. Starts nothing. Call `prepare` before serving requests. */
export function createApp(deps: AppDependencies): App {
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
    actionArgs: createActionArgs(deps),
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
    ...{ context, modules, maintenance, linkConfig, links },
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
    },
    async prepare() {
      await maintenance.deleteAbandonedUploads()
      await deleteRestoredAccounts(context)
      for (const text of Object.values(actionDocuments)) await contentStore.putDocument(Buffer.from(text))
    },
  }
}
