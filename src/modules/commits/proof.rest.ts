/** An asset's history as one file that anybody can check. */
import { z } from 'zod'
import type { DirectDescription, DirectRequest } from '../../http/rest/define-route.ts'
import { fileBytes, nidParam } from '../../http/rest/values.ts'
import { sendDownload } from '../../http/send.ts'

import { readerByLink } from '../assets/asset-links.ts'
import { proveHistory } from './verify-history.ts'

/** What is told of the proof. */
export const proofDescription: DirectDescription = {
  operationId: 'getAssetProof',
  tag: 'Assets',
  summary: 'Download a proof of an asset’s history',
  description:
    'One CAR with every tree that one may see, and the transactions, receipts and headers of its commits. `annal-verify proof.car` checks it without a network; the hash of a block settles it. While nothing of it is on the chain the answer is 409 `conflict`.',
  access: 'everybody',
  params: nidParam,
  query: z.object({
    link: z.string().optional().describe('Part of a link to the page of the asset.'),
    expires: z.string().optional().describe('Part of such a link from before links were listed.'),
    signature: z.string().optional().describe('Part of a link to the page of the asset.'),
  }),
  errors: ['CONFLICT'],
  answers: { 200: { description: 'The proof, as a file.', mediaType: 'application/vnd.ipld.car', schema: fileBytes } },
}

/** Streams a proof as a download. Raises NOT_FOUND, VALIDATION_FAILED, CONFLICT, UNAVAILABLE before anything is sent. */
export async function sendProof({ req, res, params, query, context }: DirectRequest): Promise<void> {
  const actor = await readerByLink(context, params.nid!, query)
  const mediaType = 'application/vnd.ipld.car; version=1'
  await proveHistory({ ...context, actor }, params.nid!, (nid, content) =>
    sendDownload(req, res, { name: `${nid}.proof.car`, mediaType, content }),
  )
}
