import { auditSql } from '../audit/audit-sql.ts'
import { rememberSql } from '../idempotency.ts'
import { statement } from '../ports.ts'

/**
 * Changes what is not null. $1 user, $7 the address it came from, $10 to $13 pictures to set (ids, kinds, pictures,
 * thumbnails), $14 kinds of pictures to take away. No row: the account is gone.
 */
export const changeProfile = statement<{ id: string }>(
  'account_profile_change',
  `with changed as (
     update users set display_name = coalesce($2::text, display_name), description = coalesce($3::text, description),
       language = coalesce($4::text, language), default_tag = coalesce($5::text, default_tag),
       allow_c2pa_download = coalesce($6::boolean, allow_c2pa_download)
     where id = $1::uuid and deleted_at is null returning id
   ),
   pictured as (
     insert into pictures (id, user_id, kind, picture, thumbnail)
     select item.id, changed.id, item.kind::picture_kind, item.picture, item.thumbnail
     from changed, unnest($10::uuid[], $11::text[], $12::bytea[], $13::bytea[]) as item (id, kind, picture, thumbnail)
     on conflict (user_id, kind) do update
       set id = excluded.id, picture = excluded.picture, thumbnail = excluded.thumbnail, created_at = now()
   ),
   unpictured as (
     delete from pictures using changed where user_id = changed.id and kind::text = any ($14::text[])
   ),
   ${auditSql({ name: 'audited', from: 'changed', user: 'id', action: 'profile.changed', address: '$7' })},
   ${rememberSql('$8', '$9', 'changed.id::text', 'changed')}
   select id from changed`,
)

/** A picture, whoever it is of: they are for everybody to see. $1 picture, $2 whether its thumbnail is wanted. */
export const findPicture = statement<{ bytes: Buffer }>(
  'picture_find',
  'select case when $2::boolean then thumbnail else picture end as bytes from pictures where id = $1::uuid',
)
