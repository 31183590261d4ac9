/**
 * What may be read from a replica, which is a little behind (decision 44): of these models these fields, and nothing else. A read that
 * touches anything that is not here, to select, filter or sort by it, is the primary's. No balance, price or charge stands here, and nothing
 * that decides who somebody is or what they may do.
 */
const mayLagFields: Readonly<Record<string, ReadonlySet<string> | 'all'>> = {
  Asset: 'all',
  AssetBlock: 'all',
  Commit: 'all',
  Pin: 'all',
  // Where a commit stands on the chain, which everybody can look up there; what it took of the chain, too.
  CommitRelay: new Set(['commitId', 'status', 'treeSignature', 'transactionHash', 'blockNumber', 'gasUsed', 'feePaid']),
  // What everybody sees of somebody; and what stands beside one's own assets, which REST reads with each. The rest is as it is now.
  User: new Set(['id', 'username', 'displayName', 'description', 'email', 'assetCount', 'createdAt', 'deletedAt']),
  Wallet: new Set(['userId', 'address']),
}

/** Whether anything of a model may be read from a replica. */
export const mayLagModel = (model: string): boolean => model in mayLagFields

/** Whether a field of a model may be. */
export const mayLagField = (model: string, field: string): boolean => {
  const fields = mayLagFields[model]
  return fields === 'all' || fields?.has(field) === true
}
