//! rmcp's handler: the answer to each method of the protocol.

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse,
        Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
        ServerConfig, Tool,
    },
    service::RequestContext,
};

use crate::mcp::{INSTRUCTIONS, Mcp, prompts, resources};

/// Returns the name that the client gives itself, reduced to letters, digits, spaces and `-_./@`, and cut to 64
/// characters.
fn client(context: &RequestContext<RoleServer>) -> String {
    let name = context.client_info().map(|client| client.name).unwrap_or_default();
    let is_plain = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '@' | ' ');
    name.chars().filter(is_plain).take(64).collect()
}

impl ServerHandler for Mcp {
    fn get_info(&self) -> ServerConfig {
        let can = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        ServerConfig::new(can)
            .with_server_info(
                Implementation::new("thermocline", env!("CARGO_PKG_VERSION")).with_title("Thermocline"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().find(|tool| tool.name == name).map(|tool| tool.described())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools().map(|tool| tool.described()).collect();
        Ok(ListToolsResult::with_all_items(tools).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        Ok(self.call(&request.name, arguments, &client(&context)).await?.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let all = resources::list();
        Ok(ListResourcesResult::with_all_items(all).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let all = resources::templates();
        Ok(ListResourceTemplatesResult::with_all_items(all)
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = resources::read(self, &request.uri, &client(&context)).await?;
        Ok(read.with_ttl_ms(0).with_cache_scope(CacheScope::Private).into())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let all = prompts::list(self);
        Ok(ListPromptsResult::with_all_items(all).with_ttl_ms(0).with_cache_scope(CacheScope::Private))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        Ok(prompts::get(self, &request.name, &arguments, &client(&context)).await?.into())
    }
}
