// The operator's side of bad days: backups, and instances that a restored one did not know.
#include "adapters/http/api/support.h"

namespace cardhour::http {
namespace {

wire::BackupView render(const BackupFile& file) { return {file.name, file.made_at, file.bytes}; }

Result<Response> backup_list(ControlPlane& plane, const Request&) {
  TRY_ASSIGN(const auto files, plane.backups.list());
  std::vector<wire::BackupView> views;
  for (const BackupFile& file : files) views.push_back(render(file));
  return list_answer(std::move(views));
}

Result<Response> backup_create(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const BackupFile made, plane.backups.make(actor_of(request)));
  return answer(201, render(made));
}

wire::AdoptionView render(const AdoptionView& from) {
  wire::AdoptionView view;
  view.instance_id = from.adoption.instance_id;
  view.kind = from.adoption.kind;
  view.engine_account = from.adoption.engine_account.text;
  view.owner = from.owner;
  view.generation = from.adoption.generation;
  view.found_at = from.adoption.found_at;
  view.name = from.instance.name;
  view.observed = from.instance.observed;
  view.mode = from.instance.mode;
  view.gpu_model = from.instance.gpu_model;
  view.cards = from.cards;
  view.ssh_port = from.instance.ssh_port;
  return view;
}

Result<Response> adoption_list(ControlPlane& plane, const Request&) {
  TRY_ASSIGN(const auto adoptions, plane.adoptions.list());
  std::vector<wire::AdoptionView> views;
  for (const AdoptionView& adoption : adoptions) views.push_back(render(adoption));
  return list_answer(std::move(views));
}

Result<Response> instance_answer(ControlPlane& plane, const Request& request,
                                 const Instance& instance) {
  TRY_ASSIGN(const InstanceView view, plane.instances.get(actor_of(request), instance.id.text));
  return answer(200, http::render(view, request.language));
}

Result<Response> adoption_keep(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const auto body, body_of<wire::KeepRequest>(request));
  TRY_ASSIGN(const Instance kept, plane.adoptions.keep(actor_of(request), request.param("id"),
                                                       body.account.value_or("")));
  return instance_answer(plane, request, kept);
}

Result<Response> adoption_remove(ControlPlane& plane, const Request& request) {
  TRY_ASSIGN(const Instance removed,
             plane.adoptions.remove(actor_of(request), request.param("id")));
  return instance_answer(plane, request, removed);
}

Endpoint row(Method method, std::string path, std::string operation_id, Text summary,
             Handler handler) {
  return {.method = method,
          .path = "/api/v1/admin/" + std::move(path),
          .permission = Permission::admin,
          .operation_id = std::move(operation_id),
          .summary = std::move(summary),
          .handler = std::move(handler)};
}

}  // namespace

void add_recovery_endpoints(ControlPlane& plane, std::vector<Endpoint>& to) {
  to.push_back(row(Method::get, "backups", "backup_list",
                   {"Backups of the database, newest first", "数据库备份，最新的在前"},
                   on(plane, backup_list)));
  to.back().response = page_schema<wire::BackupView>;
  to.push_back(row(Method::post, "backups", "backup_create",
                   {"Back the database up now", "立即备份数据库"}, on(plane, backup_create)));
  to.back().response = schema_of<wire::BackupView>;
  to.back().success_status = 201;
  to.push_back(row(
      Method::get, "adoptions", "adoption_list",
      {"Instances found in the engine that wait for a decision", "在引擎中发现、等待决定的实例"},
      on(plane, adoption_list)));
  to.back().response = page_schema<wire::AdoptionView>;
  to.push_back(row(Method::post, "adoptions/{id}/keep", "adoption_keep",
                   {"Give it to its renter; charged from now on", "归还租户，从现在起计费"},
                   on(plane, adoption_keep)));
  to.back().request = request_schema_of<wire::KeepRequest>;
  to.back().response = schema_of<wire::InstanceView>;
  to.push_back(row(Method::post, "adoptions/{id}/remove", "adoption_remove",
                   {"Put it into the bin", "移入回收站"}, on(plane, adoption_remove)));
  to.back().response = schema_of<wire::InstanceView>;
}

}  // namespace cardhour::http
