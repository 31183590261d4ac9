/** The data that the peers of the benchmark work on, as it lies in their tables. */
import type pg from 'pg'

export interface PeerUser {
  id: string
  username: string
  email: string
  /** The secret itself: the load sends it. */
  token: string
  /** Decimal strings. */
  num: string
  points: string
}

export interface PeerAsset {
  id: string
  ownerId: string
  fileName: string
  mimeType: string
  caption: string
  headline: string
  custom: Record<string, unknown>
  updatedAt: Date
  /** Of its commits, oldest first. */
  messages: string[]
}

export const readUsers = async (peers: pg.Client): Promise<PeerUser[]> =>
  (
    await peers.query<PeerUser>(
      `select u.id, u.username, u.email, bench_token(u.id) as token, w.num, w.points
       from users u join wallets w on w.user_id = u.id order by u.id`,
    )
  ).rows

/** The asset that was updated longest ago comes first. */
export const readAssets = async (peers: pg.Client): Promise<PeerAsset[]> =>
  (
    await peers.query<PeerAsset>(
      `select a.id, a.owner_id as "ownerId", a.asset_file_name as "fileName", a.asset_file_mime_type as "mimeType",
         a.caption, a.headline, a.nit_commit_custom as custom, a.updated_at as "updatedAt", c.messages
       from assets a join (
         select asset_id, array_agg(message order by created_at) as messages from commits group by asset_id
       ) c on c.asset_id = a.id
       order by a.updated_at`,
    )
  ).rows
