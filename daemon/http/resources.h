// The handlers, by resource. Sections: of the Iceberg REST specification; see router.cc for the
// paths.
#pragma once

#include "daemon/http/exchange.h"

namespace iceblink::daemon::http {

// config.cc
void get_config(const ExchangePtr& exchange);

// namespaces.cc
void list_namespaces(const ExchangePtr& exchange);
void create_namespace(const ExchangePtr& exchange);
void load_namespace(const ExchangePtr& exchange);
void namespace_exists(const ExchangePtr& exchange);
void drop_namespace(const ExchangePtr& exchange);
void update_properties(const ExchangePtr& exchange);

// objects.cc
void list_tables(const ExchangePtr& exchange);
void list_views(const ExchangePtr& exchange);
void table_exists(const ExchangePtr& exchange);
void view_exists(const ExchangePtr& exchange);
void rename_table(const ExchangePtr& exchange);
void rename_view(const ExchangePtr& exchange);

// object_load.cc
void load_table(const ExchangePtr& exchange);
void load_view(const ExchangePtr& exchange);

// object_register.cc
void register_table(const ExchangePtr& exchange);
void register_view(const ExchangePtr& exchange);

// object_commit.cc
void create_table(const ExchangePtr& exchange);
void create_view(const ExchangePtr& exchange);
void commit_table(const ExchangePtr& exchange);
void commit_view(const ExchangePtr& exchange);

// transactions.cc
void commit_transaction(const ExchangePtr& exchange);

// object_drop.cc
void drop_table(const ExchangePtr& exchange);
void drop_view(const ExchangePtr& exchange);

// table_unregister.cc
void unregister_table(const ExchangePtr& exchange);

// metrics_reports.cc
void report_metrics(const ExchangePtr& exchange);

// batch.cc
void apply_batch(const ExchangePtr& exchange);

// backup.cc
void make_backup(const ExchangePtr& exchange);

// changes.cc
void list_changes(const ExchangePtr& exchange);

// object_rows.cc
void list_object_rows(const ExchangePtr& exchange);

// health.cc
void healthz(const ExchangePtr& exchange);
void readyz(const ExchangePtr& exchange);
void metrics(const ExchangePtr& exchange);

}  // namespace iceblink::daemon::http
