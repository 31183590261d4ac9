-- All tables of Annal. Later changes are further migrations; this file never changes after a release.

CREATE TYPE book AS ENUM ('REVENUE', 'GAS', 'PROMOTION', 'DEPOSITS', 'FORFEITED', 'IN_TRANSIT', 'TREASURY', 'WITHDRAWALS', 'TOKENS', 'SHORTFALL');
CREATE TYPE coin_transfer_kind AS ENUM ('SWEEP', 'WITHDRAWAL');
CREATE TYPE coin_transfer_status AS ENUM ('SIGNED', 'BROADCAST', 'INCLUDED', 'FINAL', 'FAILED');
CREATE TYPE commit_status AS ENUM ('PENDING', 'BROADCAST', 'INCLUDED', 'FINAL', 'FAILED');
CREATE TYPE currency AS ENUM ('NUM', 'POINTS');
CREATE TYPE delivery_failure_policy AS ENUM ('KEEP', 'REFUND');
CREATE TYPE delivery_status AS ENUM ('PENDING', 'DELIVERED', 'GIVEN_UP');
CREATE TYPE deposit_kind AS ENUM ('COIN', 'TOKEN');
CREATE TYPE deposit_status AS ENUM ('PENDING', 'CREDITED', 'FROZEN');
CREATE TYPE order_status AS ENUM ('CREATED', 'PENDING', 'SUCCESS', 'FAILURE', 'EXPIRED', 'CANCELLED', 'REFUNDED');
CREATE TYPE picture_kind AS ENUM ('PROFILE', 'BACKGROUND');
CREATE TYPE pin_kind AS ENUM ('FILE', 'TREE', 'THUMBNAIL', 'C2PA');
CREATE TYPE price_mode AS ENUM ('FIXED');
CREATE TYPE role AS ENUM ('USER', 'ADMIN');
CREATE TYPE token_purpose AS ENUM ('PASSWORD_RESET', 'EMAIL_VERIFICATION');
CREATE TYPE withdrawal_status AS ENUM ('WAITING', 'SENDING', 'CONFIRMED', 'FAILED', 'CANCELLED');

CREATE TABLE users (
  id                  uuid NOT NULL DEFAULT uuidv7(),
  username            text NOT NULL,
  email               text NOT NULL,
  password_hash       text NOT NULL,
  role                role NOT NULL DEFAULT 'USER'::role,
  language            text NOT NULL DEFAULT 'en-us'::text,
  email_verified      boolean NOT NULL DEFAULT false,
  display_name        text NOT NULL,
  description         text NOT NULL DEFAULT ''::text,
  default_tag         text NOT NULL DEFAULT ''::text,
  referral_code       text NOT NULL DEFAULT ''::text,
  allow_c2pa_download boolean NOT NULL DEFAULT true,
  asset_count         integer NOT NULL DEFAULT 0,
  created_at          timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at          timestamptz(3),
  username_key        text NOT NULL DEFAULT ''::text,
  email_held          boolean NOT NULL DEFAULT true,
  pending_email       text,
  locked_at           timestamptz(3),
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_asset_count_not_negative CHECK (asset_count >= 0),
  CONSTRAINT users_email_verified_is_held CHECK (email_held OR NOT email_verified),
  CONSTRAINT users_username_length CHECK (char_length(username) >= 1 AND char_length(username) <= 21)
) WITH (fillfactor = 90, autovacuum_analyze_threshold = 20);
CREATE INDEX users_deleted_idx ON users (id) WHERE (deleted_at IS NOT NULL);
-- PostgreSQL checks unique indexes in the order of their creation: a duplicate username is reported before a duplicate address.
CREATE UNIQUE INDEX users_username_key ON users (username_key);
CREATE UNIQUE INDEX users_email_key ON users (lower(email)) WHERE email_held;
CREATE INDEX users_email_idx ON users (lower(email));
CREATE INDEX users_pending_email_idx ON users (lower(pending_email)) WHERE (pending_email IS NOT NULL);
CREATE INDEX users_username_prefix_idx ON users (username_key text_pattern_ops) WHERE (deleted_at IS NULL);

CREATE TABLE pictures (
  id         uuid NOT NULL DEFAULT uuidv7(),
  user_id    uuid NOT NULL,
  kind       picture_kind NOT NULL,
  picture    bytea STORAGE EXTERNAL NOT NULL,
  thumbnail  bytea STORAGE EXTERNAL NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT pictures_pkey PRIMARY KEY (id),
  CONSTRAINT pictures_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE UNIQUE INDEX pictures_user_id_kind_key ON pictures (user_id, kind);

CREATE TABLE wallets (
  user_id          uuid NOT NULL,
  address          text NOT NULL,
  num              numeric(38,18) NOT NULL DEFAULT 0,
  points           numeric(38,18) NOT NULL DEFAULT 0,
  event_sequence   integer NOT NULL DEFAULT 0,
  closed_at        timestamptz(3),
  open_orders      integer NOT NULL DEFAULT 0,
  CONSTRAINT wallets_pkey PRIMARY KEY (user_id),
  CONSTRAINT wallets_num_not_negative CHECK (num >= 0::numeric),
  CONSTRAINT wallets_open_orders_not_negative CHECK (open_orders >= 0),
  CONSTRAINT wallets_points_not_negative CHECK (points >= 0::numeric),
  CONSTRAINT wallets_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_threshold = 20, fillfactor = 80);
CREATE UNIQUE INDEX wallets_address_key ON wallets (address);
CREATE INDEX wallets_closed_idx ON wallets (user_id) WHERE (closed_at IS NOT NULL);

CREATE TABLE user_keys (
  user_id            uuid NOT NULL,
  vault_key_id       text NOT NULL,
  wrapped_data_key   bytea NOT NULL,
  sealed_private_key bytea NOT NULL,
  created_at         timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  version            smallint NOT NULL DEFAULT 2,
  CONSTRAINT user_keys_pkey PRIMARY KEY (user_id),
  CONSTRAINT user_keys_version_known CHECK (version = ANY (ARRAY[1, 2])),
  CONSTRAINT user_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX user_keys_vault_key_id_idx ON user_keys (vault_key_id);

CREATE TABLE access_tokens (
  id           uuid NOT NULL DEFAULT uuidv7(),
  user_id      uuid NOT NULL,
  hash         bytea NOT NULL,
  created_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at   timestamptz(3),
  last_used_at timestamptz(3),
  name         text NOT NULL DEFAULT ''::text,
  CONSTRAINT access_tokens_pkey PRIMARY KEY (id),
  CONSTRAINT access_tokens_hash_length CHECK (octet_length(hash) = 32),
  CONSTRAINT access_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT
) WITH (autovacuum_analyze_threshold = 20);
CREATE UNIQUE INDEX access_tokens_hash_key ON access_tokens (hash);
CREATE INDEX access_tokens_user_id_idx ON access_tokens (user_id);
CREATE INDEX access_tokens_expires_at_id_idx ON access_tokens (expires_at, id);

CREATE TABLE admin_sessions (
  id              uuid NOT NULL DEFAULT uuidv7(),
  user_id         uuid NOT NULL,
  hash            bytea NOT NULL,
  password_digest bytea NOT NULL,
  created_at      timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  last_used_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT admin_sessions_pkey PRIMARY KEY (id),
  CONSTRAINT admin_sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE UNIQUE INDEX admin_sessions_hash_key ON admin_sessions (hash);
CREATE INDEX admin_sessions_user_id_idx ON admin_sessions (user_id);

CREATE TABLE one_time_tokens (
  user_id    uuid NOT NULL,
  purpose    token_purpose NOT NULL,
  request_id uuid NOT NULL,
  hash       bytea NOT NULL,
  email      text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at timestamptz(3) NOT NULL,
  used_at    timestamptz(3),
  CONSTRAINT one_time_tokens_pkey PRIMARY KEY (user_id, purpose),
  CONSTRAINT one_time_tokens_hash_length CHECK (octet_length(hash) = 32),
  CONSTRAINT one_time_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE UNIQUE INDEX one_time_tokens_hash_key ON one_time_tokens (hash);
CREATE INDEX one_time_tokens_expires_at_idx ON one_time_tokens (expires_at);

CREATE TABLE audit_entries (
  id         uuid NOT NULL DEFAULT uuidv7(),
  user_id    uuid,
  action     text NOT NULL,
  subject    text,
  address    text,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  reason     text,
  CONSTRAINT audit_entries_pkey PRIMARY KEY (id),
  CONSTRAINT audit_entries_user_id_fkey FOREIGN KEY (user_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT
) WITH (autovacuum_analyze_threshold = 20);
CREATE INDEX audit_entries_user_id_id_idx ON audit_entries (user_id, id DESC);
CREATE INDEX audit_entries_addressed_idx ON audit_entries (user_id, id) WHERE (address IS NOT NULL);
CREATE INDEX audit_entries_credentials_idx ON audit_entries (user_id, created_at) WHERE (action = ANY (ARRAY['password.changed'::text, 'password.reset'::text, 'email.changed'::text]));

CREATE TABLE api_keys (
  id         uuid NOT NULL DEFAULT uuidv7(),
  name       text NOT NULL,
  prefix     text NOT NULL,
  hash       bytea NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  revoked_at timestamptz(3),
  CONSTRAINT api_keys_pkey PRIMARY KEY (id),
  CONSTRAINT api_keys_hash_length CHECK (octet_length(hash) = 32)
);
CREATE UNIQUE INDEX api_keys_prefix_key ON api_keys (prefix);
CREATE UNIQUE INDEX api_keys_hash_key ON api_keys (hash);

CREATE TABLE assets (
  id                  uuid NOT NULL DEFAULT uuidv7(),
  nid                 text NOT NULL,
  owner_id            uuid NOT NULL,
  creator_id          uuid NOT NULL,
  file_name           text NOT NULL,
  mime_type           text NOT NULL,
  file_size           bigint NOT NULL,
  sha256              text NOT NULL,
  caption             text NOT NULL DEFAULT ''::text,
  headline            text NOT NULL DEFAULT ''::text,
  tag                 text NOT NULL DEFAULT ''::text,
  public_access       boolean NOT NULL DEFAULT false,
  custom              jsonb NOT NULL DEFAULT '{}'::jsonb,
  meta                text,
  signed_metadata     text,
  signature           text,
  head_sequence       integer NOT NULL DEFAULT 1,
  head_commit_id      uuid NOT NULL,
  uploaded_at         timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at          timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  deleted_at          timestamptz(3),
  thumbnail_requested     boolean NOT NULL DEFAULT false,
  thumbnail_cid       text,
  erased_through           integer NOT NULL DEFAULT 0,
  alt_text            text NOT NULL DEFAULT ''::text,
  c2pa_cid            text,
  c2pa_version        text,
  content_credentials jsonb,
  CONSTRAINT assets_pkey PRIMARY KEY (id),
  CONSTRAINT assets_custom_object CHECK (jsonb_typeof(custom) = 'object'::text),
  CONSTRAINT assets_file_size_not_negative CHECK (file_size >= 0),
  CONSTRAINT assets_head_sequence_positive CHECK (head_sequence >= 1),
  CONSTRAINT assets_headline_length CHECK (char_length(headline) <= 100),
  CONSTRAINT assets_sha256_format CHECK (sha256 ~ '^[0-9a-f]{64}$'::text),
  CONSTRAINT assets_creator_id_fkey FOREIGN KEY (creator_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT assets_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_threshold = 20, fillfactor = 85);
CREATE INDEX assets_owner_id_id_idx ON assets (owner_id, id DESC);
CREATE UNIQUE INDEX assets_nid_key ON assets (nid) WHERE (deleted_at IS NULL);
CREATE INDEX assets_thumbnail_unrequested_idx ON assets (id) WHERE ((NOT thumbnail_requested) AND (deleted_at IS NULL));
CREATE INDEX assets_public_idx ON assets (public_access, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX assets_public_tag_idx ON assets (tag, public_access, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX assets_owned_idx ON assets (owner_id, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX assets_owned_tag_idx ON assets (owner_id, tag, id DESC) WHERE (deleted_at IS NULL);
CREATE INDEX assets_sha256_idx ON assets (sha256) WHERE (deleted_at IS NULL);
CREATE INDEX assets_nid_uploaded_at_idx ON assets (nid, uploaded_at);
CREATE INDEX assets_sha256_id_idx ON assets (sha256, id);
CREATE INDEX assets_deleted_idx ON assets (id) WHERE (deleted_at IS NOT NULL);

CREATE TABLE asset_links (
  id           uuid NOT NULL DEFAULT uuidv7(),
  asset_id     uuid NOT NULL,
  label        text NOT NULL DEFAULT ''::text,
  created_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at   timestamptz(3) NOT NULL,
  revoked_at   timestamptz(3),
  last_used_at timestamptz(3),
  CONSTRAINT asset_links_pkey PRIMARY KEY (id),
  CONSTRAINT asset_links_label_check CHECK (char_length(label) <= 100),
  CONSTRAINT asset_links_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX asset_links_asset_id_id_idx ON asset_links (asset_id, id);

CREATE TABLE commits (
  id          uuid NOT NULL DEFAULT uuidv7(),
  asset_id    uuid NOT NULL,
  sequence    integer NOT NULL,
  author_id   uuid NOT NULL,
  message     text NOT NULL DEFAULT ''::text,
  changes     jsonb NOT NULL,
  tree        text NOT NULL,
  tree_cid    text NOT NULL,
  tree_sha256 text NOT NULL,
  created_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT commits_pkey PRIMARY KEY (id),
  CONSTRAINT commits_changes_object CHECK (jsonb_typeof(changes) = 'object'::text),
  CONSTRAINT commits_sequence_positive CHECK (sequence >= 1),
  CONSTRAINT commits_tree_sha256_format CHECK (tree_sha256 ~ '^[0-9a-f]{64}$'::text),
  CONSTRAINT commits_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT commits_author_id_fkey FOREIGN KEY (author_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT
) WITH (autovacuum_analyze_threshold = 20);
CREATE UNIQUE INDEX commits_asset_id_sequence_key ON commits (asset_id, sequence);

CREATE TABLE commit_relays (
  commit_id        uuid NOT NULL,
  status           commit_status NOT NULL DEFAULT 'PENDING'::commit_status,
  tree_signature   text,
  lane             text,
  nonce            integer,
  transaction_hash text,
  block_number     integer,
  block_hash       text,
  failure          text,
  updated_at       timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  attempts         integer NOT NULL DEFAULT 0,
  next_attempt_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  last_error       text,
  trace            text,
  position         smallint NOT NULL DEFAULT 0,
  gas_used         integer,
  fee_paid         numeric(38,0),
  CONSTRAINT commit_relays_pkey PRIMARY KEY (commit_id),
  CONSTRAINT commit_relays_commit_id_fkey FOREIGN KEY (commit_id) REFERENCES commits(id) ON UPDATE CASCADE ON DELETE RESTRICT
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_threshold = 20);
CREATE INDEX commit_relays_open_idx ON commit_relays (lane, nonce) WHERE ((status = ANY (ARRAY['PENDING'::commit_status, 'BROADCAST'::commit_status, 'INCLUDED'::commit_status])) AND (lane IS NOT NULL));
CREATE INDEX commit_relays_unprepared_idx ON commit_relays (next_attempt_at, commit_id) WHERE ((status = 'PENDING'::commit_status) AND (lane IS NULL) AND (tree_signature IS NULL));
CREATE INDEX commit_relays_ready_idx ON commit_relays (commit_id) WHERE ((status = 'PENDING'::commit_status) AND (lane IS NULL) AND (tree_signature IS NOT NULL));
CREATE UNIQUE INDEX commit_relays_lane_nonce_position_key ON commit_relays (lane, nonce, "position");
CREATE INDEX commit_relays_failed_idx ON commit_relays (commit_id) WHERE (status = 'FAILED'::commit_status);

CREATE TABLE chain_transactions (
  hash                     text NOT NULL,
  commit_id                uuid NOT NULL,
  raw                      bytea NOT NULL,
  max_fee_per_gas          numeric(38,0) NOT NULL,
  max_priority_fee_per_gas numeric(38,0) NOT NULL,
  created_at               timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT chain_transactions_pkey PRIMARY KEY (hash),
  CONSTRAINT chain_transactions_commit_id_fkey FOREIGN KEY (commit_id) REFERENCES commit_relays(commit_id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX chain_transactions_commit_id_idx ON chain_transactions (commit_id);

CREATE TABLE chain_transaction_members (
  commit_id uuid NOT NULL,
  hash      text NOT NULL,
  position  smallint NOT NULL,
  CONSTRAINT chain_transaction_members_pkey PRIMARY KEY (commit_id, hash),
  CONSTRAINT chain_transaction_members_commit_id_fkey FOREIGN KEY (commit_id) REFERENCES commit_relays(commit_id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT chain_transaction_members_hash_fkey FOREIGN KEY (hash) REFERENCES chain_transactions(hash) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX chain_transaction_members_hash_idx ON chain_transaction_members (hash);

CREATE TABLE transfers (
  id         uuid NOT NULL DEFAULT uuidv7(),
  reference  text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  reason     text,
  CONSTRAINT transfers_pkey PRIMARY KEY (id)
) WITH (autovacuum_analyze_threshold = 20);
CREATE UNIQUE INDEX transfers_reference_key ON transfers (reference);
CREATE INDEX transfers_reasons_idx ON transfers (id) WHERE (reason IS NOT NULL);

CREATE TABLE entries (
  transfer_id uuid NOT NULL,
  position    smallint NOT NULL,
  wallet_id   uuid,
  book        book,
  currency    currency NOT NULL,
  amount      numeric(38,18) NOT NULL,
  CONSTRAINT entries_pkey PRIMARY KEY (transfer_id, "position"),
  CONSTRAINT entries_amount_not_zero CHECK (amount <> 0::numeric),
  CONSTRAINT entries_one_account CHECK (num_nonnulls(wallet_id, book) = 1),
  CONSTRAINT entries_transfer_id_fkey FOREIGN KEY (transfer_id) REFERENCES transfers(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT entries_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(user_id) ON UPDATE CASCADE ON DELETE RESTRICT
) WITH (autovacuum_analyze_threshold = 20);
CREATE INDEX entries_wallet_id_transfer_id_idx ON entries (wallet_id, transfer_id) WHERE (wallet_id IS NOT NULL);
CREATE INDEX entries_coins_idx ON entries (book, currency) INCLUDE (amount) WHERE (book = ANY (ARRAY['DEPOSITS'::book, 'TOKENS'::book, 'SHORTFALL'::book, 'IN_TRANSIT'::book, 'TREASURY'::book, 'WITHDRAWALS'::book]));

CREATE TABLE statement_balances (
  wallet_id   uuid NOT NULL,
  transfer_id uuid NOT NULL,
  num         numeric(38,18) NOT NULL,
  points      numeric(38,18) NOT NULL,
  CONSTRAINT statement_balances_pkey PRIMARY KEY (wallet_id, transfer_id)
);

CREATE TABLE network_apps (
  id                         uuid NOT NULL DEFAULT uuidv7(),
  owner_id                   uuid NOT NULL,
  name                       text NOT NULL,
  price_mode                 price_mode NOT NULL DEFAULT 'FIXED'::price_mode,
  price                      numeric(38,18) NOT NULL,
  webhook_url                text,
  webhook_secret             bytea,
  previous_secret            bytea,
  previous_secret_expires_at timestamptz(3),
  webhook_disabled_at        timestamptz(3),
  delivery_failure_policy    delivery_failure_policy NOT NULL DEFAULT 'KEEP'::delivery_failure_policy,
  deactivated_at             timestamptz(3),
  created_at                 timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at                 timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT network_apps_pkey PRIMARY KEY (id),
  CONSTRAINT network_apps_price_not_negative CHECK (price >= 0::numeric),
  CONSTRAINT network_apps_secret_with_url CHECK (webhook_url IS NULL OR webhook_secret IS NOT NULL),
  CONSTRAINT network_apps_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT
) WITH (autovacuum_analyze_threshold = 5);
CREATE INDEX network_apps_owner_id_idx ON network_apps (owner_id);
CREATE UNIQUE INDEX network_apps_name_key ON network_apps (lower(name));

CREATE TABLE orders (
  id                    uuid NOT NULL DEFAULT uuidv7(),
  buyer_id              uuid NOT NULL,
  network_app_id        uuid NOT NULL,
  network_app_name      text NOT NULL,
  status                order_status NOT NULL DEFAULT 'CREATED'::order_status,
  action_args           bytea,
  price                 numeric(38,18) NOT NULL,
  quoted_points         numeric(38,18) NOT NULL,
  quoted_num            numeric(38,18) NOT NULL,
  points_paid           numeric(38,18) NOT NULL DEFAULT 0,
  num_paid              numeric(38,18) NOT NULL DEFAULT 0,
  transfer_id           uuid,
  created_at            timestamptz(6) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  expires_at            timestamptz(3) NOT NULL,
  paid_at               timestamptz(3),
  settled_at            timestamptz(3),
  action_args_erased_at timestamptz(3),
  num_refunded          numeric(38,18) NOT NULL DEFAULT 0,
  points_refunded       numeric(38,18) NOT NULL DEFAULT 0,
  CONSTRAINT orders_pkey PRIMARY KEY (id),
  CONSTRAINT orders_erased_is_empty CHECK (action_args_erased_at IS NULL OR action_args IS NULL),
  CONSTRAINT orders_paid_in_time CHECK (paid_at < expires_at),
  CONSTRAINT orders_paid_is_price CHECK ((points_paid + num_paid) =
CASE
    WHEN paid_at IS NULL THEN 0::numeric
    ELSE price
END),
  CONSTRAINT orders_paid_with_charge CHECK ((paid_at IS NULL) = (transfer_id IS NULL)),
  CONSTRAINT orders_paid_with_status CHECK ((paid_at IS NOT NULL) = (status = ANY (ARRAY['PENDING'::order_status, 'SUCCESS'::order_status, 'FAILURE'::order_status, 'REFUNDED'::order_status]))),
  CONSTRAINT orders_price_not_negative CHECK (price >= 0::numeric),
  CONSTRAINT orders_quote_is_price CHECK (quoted_points >= 0::numeric AND quoted_num >= 0::numeric AND (quoted_points + quoted_num) = price),
  CONSTRAINT orders_refunded_at_most_paid CHECK (points_refunded >= 0::numeric AND points_refunded <= points_paid AND num_refunded >= 0::numeric AND num_refunded <= num_paid),
  CONSTRAINT orders_refunded_with_status CHECK (
CASE status
    WHEN 'REFUNDED'::order_status THEN (points_refunded + num_refunded) = price
    ELSE (points_refunded + num_refunded) < price OR price = 0::numeric
END),
  CONSTRAINT orders_settled_with_status CHECK ((settled_at IS NULL) = (status = ANY (ARRAY['CREATED'::order_status, 'PENDING'::order_status]))),
  CONSTRAINT orders_buyer_id_fkey FOREIGN KEY (buyer_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT orders_network_app_id_fkey FOREIGN KEY (network_app_id) REFERENCES network_apps(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT orders_transfer_id_fkey FOREIGN KEY (transfer_id) REFERENCES transfers(id) ON UPDATE CASCADE ON DELETE SET NULL
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_threshold = 20);
CREATE UNIQUE INDEX orders_transfer_id_key ON orders (transfer_id);
CREATE INDEX orders_network_app_id_id_idx ON orders (network_app_id, id DESC);
CREATE INDEX orders_open_idx ON orders (expires_at) WHERE (status = 'CREATED'::order_status);
CREATE INDEX orders_arguments_idx ON orders (settled_at) WHERE ((action_args IS NOT NULL) AND (settled_at IS NOT NULL));
CREATE INDEX orders_buyer_arguments_idx ON orders (buyer_id, id) WHERE (action_args IS NOT NULL);
CREATE INDEX orders_buyer_id_created_at_id_idx ON orders (buyer_id, created_at DESC, id DESC);
CREATE INDEX orders_created_at_id_idx ON orders (created_at DESC, id DESC);

CREATE TABLE refunds (
  id            uuid NOT NULL DEFAULT uuidv7(),
  order_id      uuid NOT NULL,
  transfer_id   uuid NOT NULL,
  points        numeric(38,18) NOT NULL,
  num           numeric(38,18) NOT NULL,
  points_before numeric(38,18) NOT NULL,
  num_before    numeric(38,18) NOT NULL,
  reason        text NOT NULL DEFAULT ''::text,
  refunded_by   uuid,
  created_at    timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT refunds_pkey PRIMARY KEY (id),
  CONSTRAINT refunds_amount_not_negative CHECK (points >= 0::numeric AND num >= 0::numeric AND points_before >= 0::numeric AND num_before >= 0::numeric),
  CONSTRAINT refunds_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT refunds_transfer_id_fkey FOREIGN KEY (transfer_id) REFERENCES transfers(id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE UNIQUE INDEX refunds_transfer_id_key ON refunds (transfer_id);
CREATE UNIQUE INDEX refunds_order_id_num_before_points_before_key ON refunds (order_id, num_before, points_before);

CREATE TABLE events (
  id          uuid NOT NULL DEFAULT uuidv7(),
  owner_id    uuid NOT NULL,
  sequence    integer NOT NULL,
  type        text NOT NULL,
  order_id    uuid,
  commit_id   uuid,
  delivery_id uuid,
  transfer_id uuid,
  created_at  timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT events_pkey PRIMARY KEY (id),
  CONSTRAINT events_commit_id_fkey FOREIGN KEY (commit_id) REFERENCES commits(id) ON UPDATE CASCADE ON DELETE SET NULL,
  CONSTRAINT events_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id) ON UPDATE CASCADE ON DELETE SET NULL,
  CONSTRAINT events_owner_id_fkey FOREIGN KEY (owner_id) REFERENCES users(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT events_transfer_id_fkey FOREIGN KEY (transfer_id) REFERENCES transfers(id) ON UPDATE CASCADE ON DELETE SET NULL
) WITH (autovacuum_analyze_threshold = 20);
CREATE UNIQUE INDEX events_owner_id_sequence_key ON events (owner_id, sequence);
CREATE UNIQUE INDEX events_order_paid_key ON events (order_id, owner_id) WHERE (type = 'order.paid'::text);

CREATE TABLE webhook_deliveries (
  id              uuid NOT NULL DEFAULT uuidv7(),
  event_id        uuid NOT NULL,
  network_app_id  uuid NOT NULL,
  order_id        uuid,
  status          delivery_status NOT NULL DEFAULT 'PENDING'::delivery_status,
  attempt_count   integer NOT NULL DEFAULT 0,
  next_attempt_at timestamptz(3) DEFAULT CURRENT_TIMESTAMP,
  created_at      timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  settled_at      timestamptz(3),
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (id),
  CONSTRAINT webhook_deliveries_attempts_not_negative CHECK (attempt_count >= 0),
  CONSTRAINT webhook_deliveries_settled_with_status CHECK ((settled_at IS NULL) = (status = 'PENDING'::delivery_status)),
  CONSTRAINT webhook_deliveries_event_id_fkey FOREIGN KEY (event_id) REFERENCES events(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT webhook_deliveries_network_app_id_fkey FOREIGN KEY (network_app_id) REFERENCES network_apps(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT webhook_deliveries_order_id_fkey FOREIGN KEY (order_id) REFERENCES orders(id) ON UPDATE CASCADE ON DELETE RESTRICT
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_threshold = 20);
CREATE UNIQUE INDEX webhook_deliveries_event_id_key ON webhook_deliveries (event_id);
CREATE INDEX webhook_deliveries_network_app_id_id_idx ON webhook_deliveries (network_app_id, id DESC);
CREATE INDEX webhook_deliveries_order_id_idx ON webhook_deliveries (order_id);
CREATE INDEX webhook_deliveries_open_idx ON webhook_deliveries (network_app_id) WHERE (status = 'PENDING'::delivery_status);
CREATE INDEX webhook_deliveries_undelivered_idx ON webhook_deliveries (id) WHERE (status <> 'DELIVERED'::delivery_status);

CREATE TABLE webhook_attempts (
  delivery_id uuid NOT NULL,
  number      integer NOT NULL,
  started_at  timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  duration    integer NOT NULL,
  status_code integer,
  failure     text,
  response    text NOT NULL DEFAULT ''::text,
  CONSTRAINT webhook_attempts_pkey PRIMARY KEY (delivery_id, number),
  CONSTRAINT webhook_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES webhook_deliveries(id) ON UPDATE CASCADE ON DELETE RESTRICT
);

CREATE TABLE coin_transfers (
  id               uuid NOT NULL DEFAULT uuidv7(),
  kind             coin_transfer_kind NOT NULL,
  sender           text NOT NULL,
  nonce            integer NOT NULL,
  recipient        text NOT NULL,
  wallet_id        uuid,
  amount           numeric(38,18) NOT NULL,
  status           coin_transfer_status NOT NULL DEFAULT 'SIGNED'::coin_transfer_status,
  transaction_hash text NOT NULL,
  block_number     integer,
  block_hash       text,
  arrived          numeric(38,18),
  fee              numeric(38,18),
  settlements      integer NOT NULL DEFAULT 0,
  created_at       timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  updated_at       timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  suspended_at      timestamptz(3),
  CONSTRAINT coin_transfers_pkey PRIMARY KEY (id),
  CONSTRAINT coin_transfers_amounts CHECK (amount > 0::numeric AND arrived >= 0::numeric AND fee >= 0::numeric AND nonce >= 0),
  CONSTRAINT coin_transfers_suspended CHECK (suspended_at IS NULL OR kind = 'SWEEP'::coin_transfer_kind AND (status = ANY (ARRAY['SIGNED'::coin_transfer_status, 'BROADCAST'::coin_transfer_status]))),
  CONSTRAINT coin_transfers_wallet CHECK (wallet_id IS NOT NULL OR kind = 'WITHDRAWAL'::coin_transfer_kind),
  CONSTRAINT coin_transfers_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(user_id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX coin_transfers_wallet_id_idx ON coin_transfers (wallet_id);
CREATE UNIQUE INDEX coin_transfers_sender_nonce_key ON coin_transfers (sender, nonce);
CREATE INDEX coin_transfers_open_idx ON coin_transfers (sender, nonce) WHERE (status = ANY (ARRAY['SIGNED'::coin_transfer_status, 'BROADCAST'::coin_transfer_status, 'INCLUDED'::coin_transfer_status]));
CREATE INDEX coin_transfers_block_number_idx ON coin_transfers (block_number) WHERE (block_number IS NOT NULL);

CREATE TABLE deposits (
  transaction_hash text NOT NULL,
  wallet_id        uuid NOT NULL,
  amount           numeric(96,18) NOT NULL,
  block_number     integer,
  block_hash       text,
  created_at       timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  swept_by      uuid,
  id               uuid NOT NULL DEFAULT uuidv7(),
  reference        text NOT NULL,
  kind             deposit_kind NOT NULL,
  status           deposit_status NOT NULL,
  freezes          integer NOT NULL DEFAULT 0,
  shortfall        numeric(38,18) NOT NULL DEFAULT 0,
  written_off      numeric(38,18) NOT NULL DEFAULT 0,
  credited_at      timestamptz(3),
  frozen_at        timestamptz(3),
  CONSTRAINT deposits_pkey PRIMARY KEY (id),
  CONSTRAINT deposits_amount_positive CHECK (amount > 0::numeric),
  CONSTRAINT deposits_block_check CHECK ((block_number IS NULL) = (block_hash IS NULL) AND (status = 'FROZEN'::deposit_status OR block_number IS NOT NULL)),
  CONSTRAINT deposits_frozen_check CHECK ((status = 'FROZEN'::deposit_status) = (frozen_at IS NOT NULL)),
  CONSTRAINT deposits_shortfall_check CHECK (shortfall >= 0::numeric AND written_off >= 0::numeric AND (shortfall + written_off) <= amount AND (status = 'FROZEN'::deposit_status OR (shortfall + written_off) = 0::numeric)),
  CONSTRAINT deposits_swept_by_fkey FOREIGN KEY (swept_by) REFERENCES coin_transfers(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT deposits_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(user_id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX deposits_unswept_idx ON deposits (wallet_id) WHERE (swept_by IS NULL AND kind = 'COIN'::deposit_kind);
CREATE INDEX deposits_credited_idx ON deposits (credited_at) WHERE (swept_by IS NULL AND kind = 'COIN'::deposit_kind);
CREATE UNIQUE INDEX deposits_reference_key ON deposits (reference);
CREATE INDEX deposits_wallet_id_id_idx ON deposits (wallet_id, id DESC);
CREATE INDEX deposits_block_number_idx ON deposits (block_number);
CREATE INDEX deposits_uncredited ON deposits (status, id) WHERE (status <> 'CREDITED'::deposit_status);
CREATE INDEX deposits_swept_by_idx ON deposits (swept_by) WHERE (swept_by IS NOT NULL);

CREATE TABLE withdrawals (
  id         uuid NOT NULL DEFAULT uuidv7(),
  wallet_id  uuid NOT NULL,
  recipient  text NOT NULL,
  amount     numeric(38,18) NOT NULL,
  fee        numeric(38,18) NOT NULL,
  gas_limit  integer NOT NULL,
  status     withdrawal_status NOT NULL DEFAULT 'WAITING'::withdrawal_status,
  coin_transfer_id    uuid,
  failure    text,
  created_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
  due_at     timestamptz(3) NOT NULL,
  settled_at timestamptz(3),
  CONSTRAINT withdrawals_pkey PRIMARY KEY (id),
  CONSTRAINT withdrawals_amounts CHECK (amount > 0::numeric AND fee >= 0::numeric AND gas_limit >= 21000),
  CONSTRAINT withdrawals_coin_transfer CHECK (
CASE status
    WHEN 'WAITING'::withdrawal_status THEN coin_transfer_id IS NULL
    WHEN 'CANCELLED'::withdrawal_status THEN coin_transfer_id IS NULL
    WHEN 'FAILED'::withdrawal_status THEN true
    ELSE coin_transfer_id IS NOT NULL
END),
  CONSTRAINT withdrawals_settled CHECK ((status = ANY (ARRAY['WAITING'::withdrawal_status, 'SENDING'::withdrawal_status])) = (settled_at IS NULL)),
  CONSTRAINT withdrawals_coin_transfer_id_fkey FOREIGN KEY (coin_transfer_id) REFERENCES coin_transfers(id) ON UPDATE CASCADE ON DELETE RESTRICT,
  CONSTRAINT withdrawals_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets(user_id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE UNIQUE INDEX withdrawals_coin_transfer_id_key ON withdrawals (coin_transfer_id);
CREATE INDEX withdrawals_wallet_id_id_idx ON withdrawals (wallet_id, id DESC);
CREATE INDEX withdrawals_open_idx ON withdrawals (id) WHERE (status = ANY (ARRAY['WAITING'::withdrawal_status, 'SENDING'::withdrawal_status]));
CREATE INDEX withdrawals_wallet_id_created_at_idx ON withdrawals (wallet_id, created_at);

CREATE TABLE coin_transactions (
  hash       text NOT NULL,
  coin_transfer_id    uuid NOT NULL,
  raw        bytea NOT NULL,
  gas_price  numeric(38,0) NOT NULL,
  value      numeric(38,18) NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT coin_transactions_pkey PRIMARY KEY (hash),
  CONSTRAINT coin_transactions_coin_transfer_id_fkey FOREIGN KEY (coin_transfer_id) REFERENCES coin_transfers(id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX coin_transactions_coin_transfer_id_idx ON coin_transactions (coin_transfer_id);

CREATE TABLE idempotency_keys (
  scope        bytea NOT NULL,
  payload_hash bytea NOT NULL,
  result       text NOT NULL,
  answer       text,
  created_at   timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (scope)
) WITH (autovacuum_analyze_threshold = 20);
CREATE INDEX idempotency_keys_created_at_idx ON idempotency_keys (created_at);
CREATE INDEX idempotency_keys_result_idx ON idempotency_keys (result) WHERE ((octet_length(scope) = 32) OR (SUBSTRING(scope FROM 1 FOR 16) = '\x00000000000000000000000000000000'::bytea));

CREATE TABLE pins (
  cid      text NOT NULL,
  asset_id uuid NOT NULL,
  kind     pin_kind NOT NULL,
  CONSTRAINT pins_pkey PRIMARY KEY (cid, asset_id),
  CONSTRAINT pins_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX pins_asset_id_kind_idx ON pins (asset_id, kind);

CREATE TABLE asset_blocks (
  cid      text NOT NULL,
  asset_id uuid NOT NULL,
  CONSTRAINT asset_blocks_pkey PRIMARY KEY (cid, asset_id),
  CONSTRAINT asset_blocks_asset_id_fkey FOREIGN KEY (asset_id) REFERENCES assets(id) ON UPDATE CASCADE ON DELETE RESTRICT
);
CREATE INDEX asset_blocks_asset_id_idx ON asset_blocks (asset_id);

CREATE UNLOGGED TABLE limits (
  key        text NOT NULL,
  window_end timestamptz(3) NOT NULL,
  count      integer NOT NULL,
  CONSTRAINT limits_pkey PRIMARY KEY (key)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX limits_window_end_idx ON limits (window_end);

CREATE TABLE leases (
  name       text NOT NULL,
  holder     uuid NOT NULL,
  epoch      bigint NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  CONSTRAINT leases_pkey PRIMARY KEY (name)
);

CREATE UNLOGGED TABLE processes (
  id         uuid NOT NULL,
  name       text NOT NULL,
  roles      text[] NOT NULL,
  started_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  seen_at    timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT processes_pkey PRIMARY KEY (id)
);

CREATE UNLOGGED TABLE concurrency_counters (
  subject text NOT NULL,
  holders jsonb NOT NULL,
  until   timestamptz(3) NOT NULL,
  CONSTRAINT concurrency_counters_pkey PRIMARY KEY (subject)
);
CREATE INDEX concurrency_counters_until_idx ON concurrency_counters (until);

CREATE TABLE job_failures (
  job             text NOT NULL,
  item            text NOT NULL,
  attempts        integer NOT NULL DEFAULT 1,
  since           timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  next_attempt_at timestamptz(3) NOT NULL,
  last_error      text NOT NULL,
  CONSTRAINT job_failures_pkey PRIMARY KEY (job, item)
);

CREATE TABLE key_values (
  key   text NOT NULL,
  value text NOT NULL,
  CONSTRAINT key_values_pkey PRIMARY KEY (key)
);

CREATE OR REPLACE FUNCTION enqueue(queue text, payload jsonb, lane text DEFAULT NULL::text, due timestamp with time zone DEFAULT now())
 RETURNS uuid
 LANGUAGE plpgsql
AS $function$
DECLARE
    made uuid;
BEGIN
    INSERT INTO jobs.job (name, data, group_id, start_after, policy, retry_limit, retry_delay, retry_backoff,
        retry_delay_max, expire_seconds, deletion_seconds, keep_until, heartbeat_seconds, dead_letter)
    SELECT q.name, payload, lane, due, q.policy, q.retry_limit, q.retry_delay, q.retry_backoff,
        q.retry_delay_max, q.expire_seconds, q.deletion_seconds, due + make_interval(secs => q.retention_seconds), q.heartbeat_seconds, q.dead_letter
    FROM jobs.queue q WHERE q.name = queue
    RETURNING id INTO made;
    IF made IS NULL THEN
        RAISE EXCEPTION 'There is no job queue %', queue;
    END IF;
    RETURN made;
END $function$;

CREATE OR REPLACE FUNCTION next_transfer_ids(wallet uuid, count integer DEFAULT 1)
 RETURNS uuid[]
 LANGUAGE plpgsql
AS $function$
DECLARE
    newest uuid := (SELECT e.transfer_id FROM entries e WHERE e.wallet_id = wallet ORDER BY e.transfer_id DESC LIMIT 1);
    ids uuid[] := '{}';
BEGIN
    FOR i IN 1..count LOOP
        ids[i] := uuidv7();
        IF ids[i] <= newest THEN
            ids[i] := coalesce(uuidv7(uuid_extract_timestamp(newest) - pg_catalog.clock_timestamp() + interval '1 millisecond'), ids[i]);
        END IF;
        newest := ids[i];
    END LOOP;
    RETURN ids;
END $function$;

CREATE OR REPLACE FUNCTION record_balance()
 RETURNS trigger
 LANGUAGE plpgsql
 SET enable_seqscan TO 'off'
AS $function$
BEGIN
    INSERT INTO "statement_balances" ("wallet_id", "transfer_id", "num", "points")
    SELECT w."user_id", NEW."transfer_id", w."num" - newer."num", w."points" - newer."points"
    FROM "wallets" w, LATERAL (
        SELECT coalesce(sum(e."amount") FILTER (WHERE e."currency" = 'NUM'), 0) AS "num",
            coalesce(sum(e."amount") FILTER (WHERE e."currency" = 'POINTS'), 0) AS "points"
        FROM "entries" e WHERE e."wallet_id" = w."user_id" AND e."transfer_id" > NEW."transfer_id"
    ) newer
    WHERE w."user_id" = NEW."wallet_id"
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION is_balance_checkpoint(transfer uuid)
 RETURNS boolean
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN (get_byte(uuid_send(transfer), 15) = 0);

CREATE OR REPLACE FUNCTION reject_audit_update()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    erased "audit_entries" := OLD;
BEGIN
    erased."address" := NULL;
    IF NEW IS DISTINCT FROM erased THEN
        RAISE EXCEPTION 'UPDATE on audit_entries is refused: only the address can be erased'
            USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION reject_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    RAISE EXCEPTION '% on % is refused: its rows cannot be changed or deleted', TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
END $function$;

CREATE OR REPLACE FUNCTION reject_commit_update()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    erased "commits" := OLD;
BEGIN
    erased."message" := '';
    erased."changes" := '{}';
    erased."tree" := '';
    IF NEW IS DISTINCT FROM erased THEN
        RAISE EXCEPTION 'UPDATE on commits is refused: a commit can only be erased (message, changes and tree emptied)'
            USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION reject_order_step()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF NEW."status" = OLD."status" OR (CASE OLD."status"
        WHEN 'CREATED' THEN NEW."status" IN ('PENDING', 'SUCCESS', 'EXPIRED', 'CANCELLED')
        WHEN 'PENDING' THEN NEW."status" IN ('SUCCESS', 'FAILURE', 'REFUNDED')
        WHEN 'SUCCESS' THEN NEW."status" = 'REFUNDED'
        WHEN 'FAILURE' THEN NEW."status" IN ('SUCCESS', 'REFUNDED')
        ELSE false
    END) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'An order cannot change from % to %', OLD."status", NEW."status"
        USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
END $function$;

CREATE OR REPLACE FUNCTION reject_recent_deletion()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    IF OLD."created_at" > now() - interval '30 days' THEN
        RAISE EXCEPTION 'DELETE on % is refused: its rows are kept for at least 30 days', TG_TABLE_NAME
            USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
    END IF;
    RETURN OLD;
END $function$;

CREATE OR REPLACE FUNCTION reject_refund_update()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    erased "refunds" := OLD;
BEGIN
    erased."reason" := '';
    IF NEW IS DISTINCT FROM erased THEN
        RAISE EXCEPTION 'UPDATE on refunds is refused: only the reason can be erased'
            USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION reject_transfer_update()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
    erased "transfers" := OLD;
BEGIN
    erased."reason" := NULL;
    IF NEW IS DISTINCT FROM erased THEN
        RAISE EXCEPTION 'UPDATE on transfers is refused: only the reason can be erased'
            USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
    END IF;
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION set_username_key()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    NEW."username_key" := "username_key"(NEW."username");
    RETURN NEW;
END $function$;

CREATE OR REPLACE FUNCTION notify_credential_ended()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
    PERFORM pg_notify('annal_credential_ended', OLD."id"::text);
    RETURN NULL;
END $function$;

CREATE OR REPLACE FUNCTION type_id(prefix text, id uuid)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN ((prefix || '_'::text) || (SELECT string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz'::text, ((SUBSTRING(whole.bits FROM ((5 * digit.i) + 1) FOR 5))::integer + 1), 1), ''::text ORDER BY digit.i) AS string_agg FROM generate_series(0, 25) digit(i), (SELECT (('00'::"bit")::bit varying || ((('x'::text || replace((type_id.id)::text, '-'::text, ''::text)))::bit(128))::bit varying) AS bits) whole));

CREATE OR REPLACE FUNCTION username_key(name text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
AS $function$
    SELECT normalize(casefold(normalize(regexp_replace("name",
        '[\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFF8\U000E0000-\U000E0FFF]',
        '', 'g'), NFKC) COLLATE "pg_unicode_fast"), NFKC)
$function$;

CREATE TRIGGER access_tokens_notify_ended AFTER DELETE ON access_tokens FOR EACH ROW EXECUTE FUNCTION notify_credential_ended();
CREATE TRIGGER api_keys_notify_deleted AFTER DELETE ON api_keys FOR EACH ROW EXECUTE FUNCTION notify_credential_ended();
CREATE TRIGGER api_keys_notify_ended AFTER UPDATE OF revoked_at ON api_keys FOR EACH ROW WHEN (old.revoked_at IS NULL AND new.revoked_at IS NOT NULL) EXECUTE FUNCTION notify_credential_ended();
CREATE TRIGGER audit_entries_erase_only BEFORE UPDATE ON audit_entries FOR EACH ROW EXECUTE FUNCTION reject_audit_update();
CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries FOR EACH ROW EXECUTE FUNCTION reject_change();
CREATE TRIGGER audit_entries_no_truncate BEFORE TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER coin_transfers_no_delete BEFORE DELETE ON coin_transfers FOR EACH ROW EXECUTE FUNCTION reject_change();
CREATE TRIGGER coin_transactions_no_change BEFORE DELETE OR UPDATE ON coin_transactions FOR EACH ROW EXECUTE FUNCTION reject_change();
CREATE TRIGGER coin_transactions_no_truncate BEFORE TRUNCATE ON coin_transactions FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER commits_erase_only BEFORE UPDATE ON commits FOR EACH ROW EXECUTE FUNCTION reject_commit_update();
CREATE TRIGGER commits_no_delete BEFORE DELETE ON commits FOR EACH ROW EXECUTE FUNCTION reject_change();
CREATE TRIGGER commits_no_truncate BEFORE TRUNCATE ON commits FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER entries_append_only BEFORE DELETE OR UPDATE ON entries FOR EACH ROW EXECUTE FUNCTION reject_change();
CREATE TRIGGER entries_no_truncate BEFORE TRUNCATE ON entries FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE CONSTRAINT TRIGGER entries_record_balance AFTER INSERT ON entries DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.wallet_id IS NOT NULL AND is_balance_checkpoint(new.transfer_id)) EXECUTE FUNCTION record_balance();
CREATE TRIGGER events_no_recent_delete BEFORE DELETE ON events FOR EACH ROW EXECUTE FUNCTION reject_recent_deletion();
CREATE TRIGGER events_no_update BEFORE UPDATE ON events FOR EACH ROW EXECUTE FUNCTION reject_change();
CREATE TRIGGER events_no_truncate BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER orders_status_step BEFORE UPDATE OF status ON orders FOR EACH ROW EXECUTE FUNCTION reject_order_step();
CREATE TRIGGER refunds_erase_only BEFORE UPDATE ON refunds FOR EACH ROW EXECUTE FUNCTION reject_refund_update();
CREATE TRIGGER refunds_no_delete BEFORE DELETE ON refunds FOR EACH ROW EXECUTE FUNCTION reject_change();
CREATE TRIGGER refunds_no_truncate BEFORE TRUNCATE ON refunds FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER statement_balances_append_only BEFORE DELETE OR UPDATE ON statement_balances FOR EACH ROW EXECUTE FUNCTION reject_change();
CREATE TRIGGER statement_balances_no_truncate BEFORE TRUNCATE ON statement_balances FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER transfers_erase_only BEFORE UPDATE ON transfers FOR EACH ROW EXECUTE FUNCTION reject_transfer_update();
CREATE TRIGGER transfers_no_delete BEFORE DELETE ON transfers FOR EACH ROW EXECUTE FUNCTION reject_change();
CREATE TRIGGER transfers_no_truncate BEFORE TRUNCATE ON transfers FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER users_username_key BEFORE INSERT OR UPDATE OF username ON users FOR EACH ROW EXECUTE FUNCTION set_username_key();
CREATE TRIGGER withdrawals_no_delete BEFORE DELETE ON withdrawals FOR EACH ROW EXECUTE FUNCTION reject_change();
