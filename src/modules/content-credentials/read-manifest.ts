/** Background job that reads the manifest in a registered file. */
import type { AppContext } from '../../context.ts'
import { statement, text, timestamp, uuid } from '../../db/sql.ts'
import type { JobData } from '../../jobs/queues.ts'
import { DomainError } from '../../shared/errors.ts'
import { readHead } from '../assets/file-blocks.ts'
import { signedTypeOf } from '../assets/file-types.ts'
import { reportOf, unreadable } from './manifest.ts'

/** Maximum file size, in bytes. Larger files take too much time and memory. */
const MAX_BYTES = 50_000_000
/** Type of the JUMBF box of a manifest: C2PA 11.1.4.2. */
const JUMBF_TYPE = Buffer.from('6332706100110010800000aa00389b71', 'hex')
/** Bytes in files with a manifest. C2PA 11.5 defines the XMP property. GIF may split the property after its start. */
const MARKS = [JUMBF_TYPE, Buffer.from('dcterms:provenance'), Buffer.from('XMP DataXMP')]
const MARK_BYTES = Math.max(...MARKS.map(({ length }) => length))

const readClock = statement(
  'manifest_clock',
  { parameters: {}, columns: { now: timestamp } },
  'select clock_timestamp()::timestamptz(3) as now',
)

const storeReport = statement(
  'manifest_store_report',
  { parameters: { asset: uuid, report: text } },
  'update assets set content_credentials = $report::jsonb where id = $asset and deleted_at is null',
)

/** Returns true if the bytes contain a mark, also across two chunks. */
async function hasMark(bytes: AsyncIterable<Uint8Array>): Promise<boolean> {
  let tail = Buffer.alloc(0)
  for await (const part of bytes) {
    const whole = Buffer.concat([tail, part])
    if (MARKS.some((mark) => whole.includes(mark))) return true
    tail = whole.subarray(-MARK_BYTES)
  }
  return false
}

type Needs = Pick<AppContext, 'contentCredentials' | 'contentStore' | 'database'>

/** Returns the report, or undefined if the file neither contains nor names a manifest. Throws UNAVAILABLE. */
async function reportOfFile({ contentCredentials, contentStore, database }: Needs, nid: string) {
  const type = signedTypeOf(await readHead(contentStore, nid))
  if (!type || !(await hasMark(contentStore.read(nid)))) return undefined
  const now = (await database.query(readClock, {}))[0]!.now
  try {
    const read = await contentCredentials.read(contentStore.read(nid), type.format)
    return read && reportOf(read.report, read.trustList, now)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return unreadable('The report is too deep.', now)
    if (error instanceof DomainError && error.code === 'VALIDATION_FAILED') return unreadable(error.message, now)
    throw error
  }
}

/** Throws UNAVAILABLE. */
export async function readManifest(context: Needs, { assetId }: JobData['manifest']): Promise<void> {
  const { database } = context
  const select = { nid: true, fileSize: true }
  const asset = await database.read.asset.findFirst({ select, where: { id: assetId, deletedAt: null } })
  if (!asset || asset.fileSize > MAX_BYTES) return
  const report = await reportOfFile(context, asset.nid)
  if (report) await database.query(storeReport, { asset: assetId, report: JSON.stringify(report) })
}
