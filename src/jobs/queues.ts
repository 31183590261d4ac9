/**
 * What is done in the background: the data that the jobs of each queue carry. They are put there by `enqueue-sql.ts`; what
 * carries them out is said where the process is put together. UUIDs, unless something else is said.
 */
import type { OrderMessage } from '../mail/mail-types.ts'

interface MailRequest {
  /** Sortable by time: mails and tokens that are made for it again are the same. */
  requestId: string
  /** When what it tells happened: ISO 8601. */
  at: string
}

/** One mail about an account. `email` is as it was typed, by anybody. */
export type AccountMailJob = MailRequest &
  (
    | { template: 'password-reset'; email: string }
    | { template: 'password-changed'; userId: string }
    /** `email`: the address that is to be given up, or was. */
    | { template: 'email-change-requested'; userId: string; email: string; newEmail: string }
    | { template: 'email-changed'; userId: string; email: string; newEmail: string }
    | { template: 'withdrawal-requested'; userId: string; withdrawalId: string }
    | { template: 'withdrawal-settled'; userId: string; withdrawalId: string }
    | ({ template: 'email-verification' } & ({ userId: string } | { email: string; asker: string | null }))
  )

/** A webhook delivery. */
export interface DeliveryJob {
  deliveryId: string
}

/** The key of a deleted account, whose key share in the vault is to be destroyed. */
export interface ForgetKeyJob {
  userId: string
}

/** One mail about an order. */
export type OrderMailJob =
  | { template: Exclude<OrderMessage['template'], 'administrator-refund'>; orderId: string }
  | { template: 'administrator-refund'; orderId: string; refundId: string }

/** The thumbnail of an asset. */
export interface ThumbnailJob {
  assetId: string
}

/** The manifest in the file of an asset. */
export interface ManifestJob {
  assetId: string
}

/** A scheduled task of `loops.ts`. */
export interface MaintenanceJob {
  task: string
}

/** What a job of each queue carries. */
export interface JobData {
  /** Its job was given up; its order is to end. */
  'abandoned-delivery': DeliveryJob
  'account-mail': AccountMailJob
  'forget-key': ForgetKeyJob
  mail: OrderMailJob
  /** A task at its scheduled time. */
  maintenance: MaintenanceJob
  manifest: ManifestJob
  thumbnail: ThumbnailJob
  /** Its next attempt. */
  'webhook-delivery': DeliveryJob
}
