/** The services and the work in the background, made from their parts: all there is but the doors, which commands need not load. */
import { join } from 'node:path'
import { createExplorerUrl } from './chain/explorer.ts'
import type { Config } from './config.ts'
import type { Publication, Services } from './context.ts'
import { createMailComposer } from './delivery/mail-templates.ts'
import { createWebhookSender } from './delivery/webhook-sender.ts'
import { createAccountMail } from './domain/account/account-mail.ts'
import { createAccountService } from './domain/account/account-service.ts'
import { createDeletionService } from './domain/account/deletion-service.ts'
import { createExportService } from './domain/account/export-service.ts'
import { createIdentityService } from './domain/account/identity-service.ts'
import { createMailRequests } from './domain/account/mail-requests.ts'
import { createOneTimeTokens } from './domain/account/one-time-token.ts'
import { createOwnPassword } from './domain/account/own-password.ts'
import { createPasswordCheck } from './domain/account/password-check.ts'
import { createPasswordService } from './domain/account/password-service.ts'
import { createProfileService } from './domain/account/profile-service.ts'
import { createSessionService } from './domain/account/session-service.ts'
import { createTokenUse } from './domain/account/token-use.ts'
import { actionDocuments, actionNids } from './domain/asset/action.ts'
import { createAssetService } from './domain/asset/asset-service.ts'
import { createThumbnailService } from './domain/asset/thumbnail-service.ts'
import { createTreeService } from './domain/asset/tree-service.ts'
import { createUploads } from './domain/asset/uploads.ts'
import { createAuditService } from './domain/audit/audit-service.ts'
import { createEventService } from './domain/event/event-service.ts'
import { createStreamLimits } from './domain/event/stream-limits.ts'
import { createIdempotency } from './domain/idempotency.ts'
import type { AccountMailJob, DeliveryJob, ForgetKeyJob, OrderMailJob, ThumbnailJob } from './domain/jobs.ts'
import { createLimits } from './domain/limits.ts'
import { createMaintenance, type Maintenance } from './domain/maintenance.ts'
import type {
  Chain,
  ContentStore,
  Custody,
  Database,
  FeedNotices,
  KeyVault,
  Log,
  Mailer,
  PasswordHasher,
  PictureMaker,
  Safe,
} from './domain/ports.ts'
import { createRequestLimits } from './domain/request-limits.ts'
import { createActionArgs } from './domain/store/action-args.ts'
import { createApiKeyService } from './domain/store/api-key-service.ts'
import { createDeliveryService } from './domain/store/delivery-service.ts'
import { createNetworkAppService } from './domain/store/network-app-service.ts'
import { createOrderMail } from './domain/store/order-mail.ts'
import { createOrderService } from './domain/store/order-service.ts'
import { createFunds } from './domain/wallet/funds.ts'
import { createGrantService } from './domain/wallet/grant-service.ts'
import { createPricing } from './domain/wallet/pricing.ts'
import { createStatementService } from './domain/wallet/statement-service.ts'
import { createFileLinks, type FileLinks } from './files/file-links.ts'
import { createGate } from './platform/gate.ts'
import { createUploadFolder } from './platform/http/upload-folder.ts'
import { createSeal } from './platform/vault/seal.ts'

export interface ServiceDependencies {
  config: Config
  database: Database
  contentStore: ContentStore
  custody: Custody
  passwords: PasswordHasher
  pictures: PictureMaker
  vault: KeyVault
  safe: Safe
  mailer: Mailer
  notices: FeedNotices
  /** Told that a commit waits. */
  relay: { wake(): void }
  log: Log
  /** Where callers reach the service, without a trailing slash. */
  publicUrl: string
}

export interface ServiceLayer {
  services: Services
  maintenance: Maintenance
  publication: Publication
  links: FileLinks
  /** What carries out the jobs of each queue. */
  jobs: {
    accountMail(job: AccountMailJob): Promise<void>
    forgetKey(job: ForgetKeyJob): Promise<void>
    mail(job: OrderMailJob): Promise<void>
    thumbnail(job: ThumbnailJob): Promise<void>
    webhookDelivery(job: DeliveryJob): Promise<void>
    abandonedDelivery(job: DeliveryJob): Promise<void>
  }
  /**
   * Stores the documents that commits refer to, clears away what an earlier process left behind, and deletes again the
   * accounts that came back from a backup.
   */
  prepare(): Promise<void>
}

/** An export holds some megabytes at most, and keeps the process busy while it is made. */
const exportGate = { places: 2, queue: 20, patience: 5_000, what: 'Exports' }

export function createServices(deps: ServiceDependencies): ServiceLayer {
  const { config, database, contentStore, vault, log, publicUrl } = deps
  const nids = actionNids(contentStore)
  const explorerUrl = createExplorerUrl(config.chain.explorerUrl)
  const chain: Chain = { wake: () => deps.relay.wake(), explorerUrl }
  const links = createFileLinks({ key: vault.derive('file-links'), publicUrl })
  const publication: Publication = {
    publicUrl,
    provider: config.chain.provider,
    explorerUrl,
    actionNids: nids,
    signFileUrl: links.sign,
  }

  const idempotency = createIdempotency({
    database,
    key: vault.derive('idempotency'),
    answers: createSeal(vault.derive('idempotency-answers')),
  })
  const limits = createLimits({ database })
  const passwordCheck = createPasswordCheck(deps)
  const tokenUse = createTokenUse({ database })
  const tokens = createOneTimeTokens({ database, vault })
  const credentials = {
    ownPassword: createOwnPassword({ database, passwordCheck }),
    mailRequests: createMailRequests({ database, limits, idempotency, perHour: config.limits.resetsPerHour }),
    tokens,
    idempotency,
  }
  const uploads = createUploads({
    folder: createUploadFolder({ dir: join(config.dir, 'uploads') }),
    megabytesPerUser: config.limits.unpaidMegabytes,
  })
  const verifiesAddresses = config.emailVerification !== 'off'
  const pricing = createPricing(config.money)
  const funds = createFunds({ database })
  const actionArgs = createActionArgs({ safe: deps.safe, log })
  const services: Services = {
    idempotency,
    pricing,
    uploads,
    funds,
    grants: createGrantService({ database, notices: deps.notices, idempotency, log, verifiesAddresses }),
    statement: createStatementService({ database }),
    accounts: createAccountService({
      ...deps,
      limits,
      requestLimits: createRequestLimits(config.limits),
      passwordCheck,
      tokenUse,
      idempotency,
      config: {
        signUpPoints: config.money.signUpPoints,
        requireApiKeyForSignUp: config.requireApiKeyForSignUp,
        accessTokenDays: config.accessTokenDays,
        emailVerification: config.emailVerification,
        ...config.limits,
      },
    }),
    sessions: createSessionService({ database, idempotency, tokenUse }),
    profiles: createProfileService({ ...deps, idempotency, limits }),
    audit: createAuditService({ database }),
    deletions: createDeletionService(deps),
    exports: createExportService({ database, actionArgs, exports: createGate(exportGate) }),
    passwords: createPasswordService({ ...deps, ...credentials }),
    identities: createIdentityService({ ...credentials, database, limits, verifiesAddresses }),
    apiKeys: createApiKeyService({ database, vault, idempotency }),
    networkApps: createNetworkAppService({ database, safe: deps.safe, vault, idempotency, config: config.store }),
    deliveries: createDeliveryService({
      database,
      safe: deps.safe,
      actionArgs,
      sender: createWebhookSender({ allowInsecure: config.store.allowInsecureWebhooks }),
      idempotency,
      notices: deps.notices,
      log,
    }),
    orders: createOrderService({
      database,
      notices: deps.notices,
      actionArgs,
      funds,
      idempotency,
      log,
      config: config.store,
    }),
    assets: createAssetService({
      ...deps,
      ...{ chain, limits, idempotency, pricing, funds, uploads },
      config: { ...config.limits, verifiesAddresses },
    }),
    thumbnails: createThumbnailService(deps),
    trees: createTreeService({ database }),
    events: createEventService({ ...deps, actionArgs, streamLimits: createStreamLimits(config.limits) }),
  }

  const compose = createMailComposer({ currency: config.money.currency, publicUrl })
  const orderMail = createOrderMail({ ...deps, compose, verifiesAddresses })
  const accountMail = createAccountMail({ ...deps, compose, tokens, verifiesAddresses })

  const maintenance = createMaintenance({
    ...{ database, contentStore, idempotency, limits, uploads, log },
    documents: Object.values(nids),
  })

  return {
    services,
    maintenance,
    publication,
    links,
    jobs: {
      accountMail: accountMail.handle,
      forgetKey: services.deletions.forget,
      mail: orderMail.handle,
      thumbnail: services.thumbnails.handle,
      webhookDelivery: services.deliveries.handle,
      abandonedDelivery: services.deliveries.abandon,
    },
    async prepare() {
      await maintenance.sweepUploads()
      await services.deletions.reapply()
      for (const text of Object.values(actionDocuments)) await contentStore.putDocument(Buffer.from(text))
    },
  }
}
