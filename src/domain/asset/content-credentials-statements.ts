import { settingKeys } from '../settings.ts'
import { int, orNull, statement, text, uuid } from '../sql.ts'

/** What a manifest says of a commit. A transaction is named once it is in a block. */
export const findManifestFacts = statement(
  'c2pa_facts',
  {
    parameters: { commit: uuid, registry: orNull(text) },
    columns: {
      sequence: int,
      tree: text,
      tree_cid: text,
      tree_sha256: text,
      transaction: orNull(text),
      chain_id: orNull(text),
      registry: orNull(text),
    },
  },
  `with chain as (select value as id from settings where key = '${settingKeys.chain}')
   select c.sequence, c.tree, c.tree_cid, c.tree_sha256,
     case when r.status in ('INCLUDED', 'FINAL') then r.transaction_hash end as transaction,
     (select id from chain) as chain_id,
     coalesce($registry, (select value from settings, chain where key = '${settingKeys.registry}' || chain.id)) as registry
   from commits c left join commit_relays r on r.commit_id = c.id
   where c.id = $commit and c.tree <> ''`,
)

/** Pins the file with our manifest, and unpins every earlier one: of two that are made at once the later one does not see the other's pin. Once the asset is deleted there is no row. */
export const keepSigned = statement(
  'c2pa_keep',
  { parameters: { asset: uuid, cid: text, version: text }, columns: { id: uuid } },
  `with locked_asset as (
     select id from assets where id = $asset and deleted_at is null for no key update
   ),
   updated_asset as (
     update assets a set c2pa_cid = $cid, c2pa_version = $version from locked_asset where a.id = locked_asset.id
     returning a.id
   ),
   deleted_pin as (
     delete from pins using locked_asset
     where pins.asset_id = locked_asset.id and pins.kind = 'C2PA' and pins.cid <> $cid
   ),
   inserted_pin as (
     insert into pins (cid, asset_id, kind) select $cid, id, 'C2PA' from updated_asset on conflict do nothing
   )
   select id from updated_asset`,
)
