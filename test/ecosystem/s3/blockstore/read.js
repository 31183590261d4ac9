/** Reads blocks with blockstore-s3: `node read.js <endpoint> <bucket> <json>`, where the JSON lists CIDs. Prints a list of their SHA-256. */
import { createHash } from 'node:crypto'
import { S3 } from '@aws-sdk/client-s3'
import { S3Blockstore } from 'blockstore-s3'
import { CID } from 'multiformats/cid'

const [endpoint, bucket, wanted] = process.argv.slice(2)
const store = new S3Blockstore(new S3({ endpoint, region: 'us-east-1', forcePathStyle: true }), bucket)

const found = []
for (const cid of JSON.parse(wanted)) {
  const hash = createHash('sha256')
  for await (const part of store.get(CID.parse(cid))) hash.update(part)
  found.push(hash.digest('hex'))
}
process.stdout.write(JSON.stringify(found))
