"""What vLLM's old arguments are called today, and which have gone.

From the fields of `EngineArgs` and `SpeculativeConfig` in vLLM 0.6.6, 0.8.5, 0.11, 0.16, 0.20, 0.24, 0.28, 0.30 and
0.33, held against each other.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# an old argument of LLM(...) -> its key in speculative_config
MOVED = {
    "num_speculative_tokens": "num_speculative_tokens",
    "speculative_draft_tensor_parallel_size": "draft_tensor_parallel_size",
    "speculative_model_quantization": "quantization",
    "speculative_max_model_len": "max_model_len",
    "ngram_prompt_lookup_max": "prompt_lookup_max",
    "ngram_prompt_lookup_min": "prompt_lookup_min",
}
# an old argument about speculation, or an old key of the dict -> the sentence that says why it has gone
GONE = {
    "use_v2_block_manager": "block_manager",
    "spec_decoding_acceptance_method": "acceptance",
    "acceptance_method": "acceptance",
    "typical_acceptance_sampler_posterior_threshold": "typical",
    "typical_acceptance_sampler_posterior_alpha": "typical",
    "posterior_threshold": "typical",
    "posterior_alpha": "typical",
    "speculative_disable_by_batch_size": "batch_size",
    "disable_by_batch_size": "batch_size",
    "speculative_disable_mqa_scorer": "scorer",
    "disable_mqa_scorer": "scorer",
    "disable_logprobs_during_spec_decoding": "logprobs",
    "disable_logprobs": "logprobs",
    "speculative_token_tree": "token_tree",
    "num_lookahead_slots": "lookahead",
}
# other arguments of LLM(...) that no longer exist
GONE_ELSEWHERE = _words(
    """
    task quantization_param_path worker_use_ray engine_use_ray swap_space rope_scaling rope_theta
    max_seq_len_to_capture tokenizer_pool_size tokenizer_pool_type tokenizer_pool_extra_config
    disable_mm_preprocessor_cache enable_lora_bias lora_extra_vocab_size long_lora_scaling_factors
    enable_prompt_adapter max_prompt_adapters max_prompt_adapter_token device num_scheduler_steps
    multi_step_stream_outputs preemption_mode scheduler_delay_factor guided_decoding_backend
    guided_decoding_disable_fallback guided_decoding_disable_any_whitespace
    guided_decoding_disable_additional_properties logits_processor_pattern qlora_adapter_name_or_path
    disable_async_output_proc override_neuron_config override_pooler_config override_attention_dtype
    enable_reasoning cuda_graph_sizes num_redundant_experts max_num_partial_prefills max_long_partial_prefills
    calculate_kv_scales enable_multimodal_encoder_data_parallel
    """
)
# keys that a speculative_config may hold today, without those that vLLM fills in itself
KEYS = _words(
    """
    enforce_eager num_speculative_tokens model method draft_tensor_parallel_size quantization moe_backend
    attention_backend kv_cache_dtype max_model_len revision code_revision index_share_for_mtp_iteration
    disable_padded_drafter_batch disable_eagle_block_drop use_local_argmax_reduction use_heterogeneous_vocab
    prompt_lookup_max prompt_lookup_min parallel_drafting num_speculative_tokens_per_batch_size
    suffix_decoding_max_tree_depth suffix_decoding_max_cached_requests suffix_decoding_max_spec_factor
    suffix_decoding_min_token_prob draft_load_config rejection_sample_method synthetic_acceptance_rates
    synthetic_acceptance_length enable_adaptive_verification draft_sample_method dspark_draft_topk
    """
)
SINCE_33 = _words(
    """
    disable_lookahead_block_hashes draft_lm_head_quantization xpress_topc fly_window_size fly_entropy_threshold
    fly_entropy_top_k
    """
)
# old options of the server that take no value
FLAGS = _words("use_v2_block_manager speculative_disable_mqa_scorer disable_logprobs_during_spec_decoding")
OLD = MOVED.keys() | GONE.keys() | {"speculative_model"}
